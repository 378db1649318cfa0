# make book   builds the book      make test   checks everything
# Both start from nothing but Python 3.11 or newer and make.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
SITE := _build/html
export JUPYTER_PREFER_ENV_PATH = 1

.PHONY: book test references claim tables bench serve lab clean

# After a failure the pages are read anew, so that no warning is lost; chapters stay executed.
book: $(READY)
	$(BIN)/jupyter-book build . -W -n --keep-going || { rm -rf _build/.doctrees; exit 1; }
	$(BIN)/python -m mdsgdln_book.site $(SITE)
	@echo
	@echo "The book is built. Open $(SITE)/index.html, or run 'make serve'."

test: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pytest -q -n 2
	TYPECHECK=off $(BIN)/pytest -q -k "bad or named or single_neurons"  # what a user gets: see tests/bad_input.py
	$(BIN)/pytest -q --nbval --nbval-current-env --nbval-cell-timeout 300 \
	    -n 2 --dist loadfile tests/references

references: $(READY)
	$(BIN)/python -m mdsgdln_book.references $(CHAPTER)

# Run the one chapter that decides a claim of the ledger: make claim ID=xor-never-slower
claim: $(READY)
	$(BIN)/python -m mdsgdln_book.claims $(ID)

tables: $(READY)
	$(BIN)/python -m mdsgdln_book.tables $(TABLE)

bench: $(READY)
	$(BIN)/python benchmarks/sweeps.py
	$(BIN)/python benchmarks/prediction.py
	$(BIN)/python benchmarks/routing.py

serve: $(READY)
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory $(SITE) 8000

lab: $(READY)
	$(BIN)/jupytext-config --settings-file .venv/share/jupyter/lab/settings/overrides.json \
	    set-default-viewer markdown myst
	$(BIN)/jupyter lab book

clean:
	rm -rf _build

# Python's version is checked first, as pip would complain only about packages.
$(READY): requirements.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -r requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	touch $@
