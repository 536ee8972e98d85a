# Each command works on a machine with only Python 3.11+ and make: it first creates .venv with the pinned requirements.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

# Progress bars are for people at a terminal; they must not end up in stored outputs.
export TQDM_DISABLE := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help book test lab bench notebooks full figures clean

help:  ## show this list
	@grep -E '^[a-z]+:.*## ' Makefile | sed 's/:.*## /\t/' | expand -t 12

book: $(READY)  ## build the website, strictly: any warning is an error
	$(BIN)/jupyter-book build . --all -W -n --keep-going
	@echo "The book is ready: open _build/html/index.html in a browser."

test: $(READY)  ## run everything: lint, unit and property tests, notebooks, the built site in a browser
	$(BIN)/ruff check helpers tests book
	$(BIN)/python -m pytest -n 2

lab: $(READY)  ## open the notebooks in JupyterLab
	TQDM_DISABLE= $(BIN)/jupyter lab notebooks

bench: $(READY)  ## measure the speed claims as ratios; writes book/bench.json and its plot
	TQDM_DISABLE= $(BIN)/python tests/bench.py

notebooks: $(READY)  ## execute every notebook again and store its outputs
	$(BIN)/jupyter nbconvert --to notebook --execute --inplace --ExecutePreprocessor.record_timing=False notebooks/*.ipynb

full: $(READY)  ## run the experiments at full size (10,000 releases each) into _build/full; takes about an hour
	BOOK_TRIALS=$${BOOK_TRIALS:-10000} TQDM_DISABLE= $(BIN)/jupyter nbconvert --to notebook --execute --ExecutePreprocessor.timeout=-1 \
		--output-dir _build/full notebooks/08-*.ipynb notebooks/09-*.ipynb notebooks/10-*.ipynb notebooks/11-*.ipynb notebooks/12-*.ipynb

figures: $(READY)  ## draw the figures of the README and the front page again
	$(BIN)/python book/images/hero.py

clean:  ## remove everything that the other commands made
	rm -rf .venv _build .pytest_cache .hypothesis .ruff_cache *.egg-info build dist

$(READY): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "PYTHON must be Python 3.11 or newer, got " + sys.version.split()[0] + "; try: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --quiet --requirement requirements.txt
	$(BIN)/pip install --quiet --no-deps --editable .
	@touch $(READY)
