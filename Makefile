# make book   builds the book      make test   checks everything      CHAPTER=semantic   of one chapter
# Both start from nothing but Python 3.11 to 3.14 and make. CORES=4   by at most so many processes at once

PYTHON ?= python3
NEEDED := Python 3.11 to 3.14 is needed; one with another name: make PYTHON=python3.13
BIN := .venv/bin
READY := .venv/ready
GPU := $(wildcard .venv/lib/python*/site-packages/jax_cuda*)

# Settings of the reader's own change no number, no figure and nothing that is installed: those that would
# are left out, and named. Numbers of threads stay, and results are kept for these, the processor and the
# GPU: book/mdsgdln_book/fingerprints.py.
SETTINGS := BASH_ENV CDPATH IPYTHON% JAX_% JUPYTER_DATA_DIR JUPYTER_PATH LD_PRELOAD MATPLOTLIB% MPL% MYPY% \
    NPY_% OPENBLAS_CORETYPE PIP_PREFIX PIP_REQUIRE% PIP_TARGET PIP_USER PYTEST_% PYTHON% RUFF_% SPHINX% UV_PYTHON% XLA_%
OWN := JAX_COMPILATION_CACHE_DIR PYTHON PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED XLA_PYTHON_CLIENT% $(if $(GPU),JAX_PLATFORMS)
LEFT_OUT := $(foreach name,$(filter-out $(OWN),$(filter $(SETTINGS),$(.VARIABLES))),\
    $(if $(filter environment,$(origin $(name))),$(name)))
ifeq ($(MAKELEVEL),0)
$(if $(strip $(LEFT_OUT)),$(info Left out, so that the book is the same for everyone: your $(sort $(LEFT_OUT))))
endif
unexport $(LEFT_OUT)
# uv leaves modules to be compiled when first imported. Unless that is kept, each kernel imports for 5 seconds, not 2.
unexport PYTHONDONTWRITEBYTECODE
# Files of settings are left out as well; and HOME need not be writable.
export MPLCONFIGDIR = $(CURDIR)/.venv/matplotlib
export IPYTHONDIR = $(CURDIR)/.venv/ipython
export JUPYTER_PREFER_ENV_PATH = 1
# pip says errors only, does not ask whether it is outdated, and installs into .venv.
export PIP_QUIET = 2
export PIP_DISABLE_PIP_VERSION_CHECK = 1
export PIP_USER = 0
# As many processes run as there are cores. With more threads of NumPy than that, threads that wait keep their
# core busy, and a step may take twenty times as long.
export OMP_NUM_THREADS ?= 1
# Without a GPU's wheel JAX would look for a GPU, and say in every chapter that it cannot use it.
ifndef GPU
export JAX_PLATFORMS = cpu
endif

# The Python that will run. Where the one beneath .venv has gone, or another is named, nothing is ready.
NAMED := $(if $(filter file,$(origin PYTHON)),$(BIN)/python,$(PYTHON))
RUNS := $(shell $(BIN)/python -E -c '' 2> /dev/null && [ "$$($(BIN)/python -V)" = "$$($(NAMED) -V 2>&1)" ] && \
    echo $(BIN)/python || { rm -f $(READY) .venv/requirements.txt && echo $(PYTHON); })
LOCK := _build/lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
    --no-emit-index-url --no-annotate --custom-compile-command "make lock"
SITE := _build/html
# A kernel takes 28 files, and macOS allows 256. Where no more can be had, fewer run: book/_ext/cores.py.
FILES := ulimit -S -n 4096 2> /dev/null || true
# What JAX compiles is kept beside what is installed, for this processor: chapters are compiled once for
# both commands. Two processes may meet at an entry; the one that cannot read it compiles.
PROCESSOR := $(shell { grep -m 1 ^flags /proc/cpuinfo || uname -m; } 2> /dev/null | cksum | cut -d ' ' -f 1)
export JAX_COMPILATION_CACHE_DIR ?= $(CURDIR)/.venv/compiled/$(PROCESSOR)
export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS = 0
export JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES = -1
# With JAX 0.10.1 XLA says of each that the processor lacks features which no processor has.
export TF_CPP_MIN_LOG_LEVEL = 3
export PYTHONWARNINGS = ignore:Error reading persistent compilation cache
# With its older emitter of loops, all in one module, XLA compiles in half the time; programs run as fast.
# The lock has a jaxlib that knows these flags for Python 3.11 only; later ones stop at the first of them.
OLD := $(shell $(RUNS) -E -c 'import sys; print(sys.version_info < (3, 12))' 2> /dev/null)
ifeq ($(OLD),True)
export XLA_FLAGS = --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1
endif

.DELETE_ON_ERROR:  # half a conf.py, where the disk was full, would count as made
.PHONY: book test check figure references tables reproduce bench pages pdf serve lab clean lock

# What has to be executed, is, all at once: book/_ext/execution.py. With CHAPTER, its page as it lies in
# the book; other chapters are not executed. After a warning all is read again, so that it comes again.
SPHINX := $(BIN)/sphinx-build --quiet --nitpicky --keep-going
ifdef BOOK_REPOSITORY
SPHINX += -D html_theme_options.use_repository_button=true -D html_theme_options.repository_url=$(BOOK_REPOSITORY)
endif
ifdef BOOK_ADDRESS
SPHINX += -D html_baseurl=$(BOOK_ADDRESS)
endif
book: $(READY) conf.py
	@$(FILES); $(BIN)/python -m _ext.execution $(CHAPTER)
ifdef CHAPTER
	@$(SPHINX) -D nb_execution_mode=off -d _build/.doctrees-chapter . $(SITE) $(CHAPTER:%=book/%.md)
else
	@$(SPHINX) --fail-on-warning -d _build/.doctrees . $(SITE) || { rm -rf _build/.doctrees; exit 1; }
endif
	@echo "Open $(SITE)/$(if $(CHAPTER),book/$(firstword $(CHAPTER)),index).html, or run 'make serve'."

conf.py: $(READY) _config.yml _toc.yml
	@$(BIN)/jupyter-book config sphinx . > /dev/null

# Everything. With CHAPTER="xor start", their references alone: every chapter is executed and compared.
NBVAL := $(BIN)/pytest -q -n auto --dist=loadfile --nbval --nbval-current-env --nbval-cell-timeout=600
test: $(READY)
ifndef CHAPTER
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy mdsgdln tests/jobs
	$(BIN)/pytest -q -n auto --dist=loadgroup
endif
	$(NBVAL) $(or $(CHAPTER:%=tests/references/%.ipynb),tests/references)

# A chapter is executed; how its reference changes is shown, and its page is built.
check: $(READY)
	@$(BIN)/python -m _ext.references $(CHAPTER)
	@git rev-parse --git-dir > /dev/null && git --no-pager diff -- $(CHAPTER:%=tests/references/%.ipynb) || \
	    echo "How the reference changed is not shown, for Git's reason above."
	@$(MAKE) --no-print-directory book

# One figure, drawn anew, with its numbers as CSV: make figure NAME=mhs-4, or fig-xor-cells
figure: $(READY)
	@$(BIN)/python -m _ext.figures $(NAME)

# All references, or those of CHAPTER="xor start", as chapters print now.
references: $(READY)
	$(BIN)/python -m _ext.references $(CHAPTER)

# The tables that lack a row, whole; TABLE="name ..." computes these anew.
tables: $(READY)
	$(BIN)/python .ci/reproduce.py fill $(if $(TABLE),--anew) --tables $(TABLE)

# The book without its tables: all of them are recomputed in an empty folder, every chapter is executed on
# them, and what it prints is compared. TABLE="..." and CHAPTER="..." take these only.
reproduce: $(READY)
	$(BIN)/python .ci/reproduce.py all --tables $(TABLE) --chapters $(CHAPTER)

# All that the page on what it takes has measured, on a machine that does nothing else. What this page
# prints is then another reference. PART="training" takes this only.
bench: export JAX_ENABLE_COMPILATION_CACHE = false
bench: export XLA_FLAGS =
bench: $(READY)
	$(BIN)/python benchmarks $(PART)
ifndef PART
	$(MAKE) references CHAPTER="status"
endif

# Every page of the built site in the system's Chromium or Chrome, the network cut off.
pages: $(READY) .venv/browser-ready
	$(BIN)/pytest -q -n auto tests/pages

# The book as one PDF, by the system's Chromium or Chrome.
pdf: $(READY) conf.py
	@$(BIN)/python -m _ext.execution
	@$(SPHINX) --fail-on-warning -b singlehtml -d _build/.doctrees . _build/singlehtml
	@$(BIN)/python .ci/pdf.py _build/singlehtml _build/mdsgdln.pdf

serve: $(READY)
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory $(SITE) 8000

lab: $(READY)
	$(BIN)/jupytext-config --settings-file .venv/share/jupyter/lab/settings/overrides.json \
	    set-default-viewer markdown myst
	$(BIN)/jupyter lab book

clean:
	rm -rf _build conf.py

# All is installed anew when the lock has changed, when the last time was interrupted (the copy of the lock
# is written at the end), or when the Python beneath has gone. Of two makes at once one waits for the other.
$(READY): requirements.txt pyproject.toml book/pyproject.toml
	@command -v $(PYTHON) > /dev/null || { echo "No $(PYTHON) here. $(NEEDED)"; exit 1; }
	@$(PYTHON) .ci/install.py

.venv/browser-ready: tests/pages/requirements.txt $(READY)
	@$(PYTHON) .ci/install.py --require-hashes --no-deps -r tests/pages/requirements.txt
	touch $@

# Newer versions of what requirements.in leaves open.
lock:
	$(PYTHON) -m venv _build/lock
	_build/lock/bin/python -m pip install uv
	$(LOCK) requirements.in --output-file requirements.txt
	$(LOCK) .ci/uv.in --output-file .ci/uv.txt
	$(LOCK) tests/pages/requirements.in --constraints requirements.txt --output-file tests/pages/requirements.txt
