# Each command works on a machine with only Python 3.11+ and make: it first creates .venv with the pinned requirements, and pip
# takes no file whose hash is not in requirements.txt.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
CODE := conftest.py helpers tests book tools notebooks

# Progress bars are for people at a terminal; they must not end up in stored outputs.
export TQDM_DISABLE := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# What the tools and the teaching pack import from each other, and from the book as files: manuscript.
export PYTHONPATH := $(CURDIR)/book:$(CURDIR)/tools:$(CURDIR)/tests

.PHONY: help book pdf zip lite site teach test test-bare test-lite test-latest test-tables test-spark lock fuzz mutants format lab address bench readers notebooks full figures clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*## ' Makefile | sed 's/:.*## /\t/' | expand -t 12

book: $(READY)  ## build the website, strictly: any warning is an error
	@rm -rf _build/html/*.pdf _build/html/*.zip _build/html/lite  # made from an earlier build
	$(BIN)/jupyter-book build . --all -W -n --keep-going
	@echo "The book is ready: open _build/html/index.html in a browser."

pdf: book  ## build the website and the whole book as one PDF, linked from every page; needs Chromium
	$(BIN)/python tools/take_along.py pdf

zip: book  ## build the website and a zip of it, linked from every page, that opens from the file system
	$(BIN)/python tools/take_along.py zip

lite: book  ## build the website with JupyterLite in it: each chapter's button runs it in the reader's browser; needs npm
	$(BIN)/python tools/lite.py

site: book  ## all of it: the website, its zip, the PDF and JupyterLite; needs Chromium and npm
	$(BIN)/python tools/take_along.py zip pdf
	$(BIN)/python tools/lite.py

teach: $(READY)  ## the instructor's pack: notebooks, slides, quizzes, rubric, guide; RUN=1 also executes every notebook of it
	$(BIN)/python -m teach $(if $(RUN),--run)

test: $(READY)  ## run everything: lint, types, unit and property tests, notebooks, the built site in a browser
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2

test-bare: $(READY)  ## run each chapter alone in an empty folder, with only the helpers' wheel installed; some minutes
	$(BIN)/python -m pytest -n 0 tools/bare.py

# To try others than chapters 2, 4 and 8: make test-lite CHAPTERS="05 06"
test-lite: $(READY) | _build/html/lite  ## run chapters of the built website in Chromium, to the end; some minutes
	LITE_CHAPTERS="$(CHAPTERS)" $(BIN)/python -m pytest -n 0 -rA tools/lite_in_browser.py

_build/html/lite:
	$(MAKE) lite

# Some of them: make mutants MODULES="layout allocation"; after new tests, only what survived before: AGAIN=1
mutants: $(READY)  ## break the helpers in thousands of small ways and see that their tests notice; about an hour
	$(BIN)/python tools/mutants.py $(if $(AGAIN),--again) $(MODULES)

format: $(READY)  ## wrap all code, that of the notebooks to the width of the page; long strings and comments are left to you
	$(BIN)/ruff format $(CODE)

# More or fewer: make fuzz CASES=1000000; what it finds comes first the next time, and the line it prints replays it alone.
fuzz: $(READY)  ## call every public function and the command line with generated input, right and wrong; some minutes
	CASES=$(CASES) $(BIN)/python -m pytest -n 2 --dist load tests/fuzz --hypothesis-profile=fuzz

# Everything that requirements.in names, without the pin; a cap stands there in the comment, with its reason. What is newest
# today has no hash in any file: this is the one command that installs without.
LATEST := _build/latest
test-latest:  ## run the tests on the newest versions of all dependencies, in an environment of their own
	$(PYTHON) -m venv --clear $(LATEST)
	sed 's/==[^ ]*  # \(<[0-9.]*\).*/\1/; s/==.*//' requirements.in > $(LATEST)/newest.txt
	$(LATEST)/bin/pip install --quiet --requirement $(LATEST)/newest.txt
	$(LATEST)/bin/pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $(LATEST)/ready
	@echo "Newer than the pins of requirements.txt:"
	@sed -n 's/^\([^ =[]*\)[^ =]*\(==[^ ]*\).*/\1\2/p' requirements.txt > $(LATEST)/pinned.txt
	@$(LATEST)/bin/pip freeze --exclude-editable | tr _ - | grep -ivxFf $(LATEST)/pinned.txt || echo "  nothing"
	$(MAKE) test BIN=$(LATEST)/bin READY=$(LATEST)/ready

# More or fewer rows: make test-tables MILLIONS=10
test-tables: $(READY)  ## add up a made-up table of 100 million rows with DuckDB in 2 GB, and a smaller one with pandas too
	$(BIN)/python tools/large_tables.py $(or $(MILLIONS),100) duckdb
	$(BIN)/python tools/large_tables.py 5 duckdb pandas

# Spark lies beside .venv, not in it: only this command needs it. It comes as source, which the setuptools of .venv unpacks.
SPARK := _build/spark
test-spark: $(SPARK)/ready  ## the same with Spark on this machine: is it the same tree? needs Java and 450 MB of packages
	PYTHONPATH=$(CURDIR)/$(SPARK):$(PYTHONPATH) $(BIN)/python tools/large_tables.py 5 duckdb pandas spark
	PYTHONPATH=$(CURDIR)/$(SPARK):$(PYTHONPATH) $(BIN)/python tools/large_tables.py $(or $(MILLIONS),100) duckdb spark

$(SPARK)/ready: $(READY) tools/spark.txt
	@rm -rf $(SPARK)
	$(BIN)/pip install --quiet --no-build-isolation --target $(SPARK) --require-hashes --requirement tools/spark.txt
	@touch $(SPARK)/ready

# Pins that still fit stay as they are. All to the newest that requirements.in allows: make lock UPGRADE=1
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --only-binary :all: --emit-build-options \
	--generate-hashes --no-annotate --no-strip-extras --custom-compile-command "make lock" $(if $(UPGRADE),--upgrade)
lock: $(READY)  ## after a change in requirements.in: pins and hashes, for every platform, of the book and of Binder
	$(COMPILE) requirements.in --output-file requirements.txt
	echo setuptools | $(COMPILE) pyproject.toml - --extra notebooks --extra release --constraint requirements.txt \
		--output-file binder/requirements.txt

lab: $(READY)  ## open the notebooks in JupyterLab
	TQDM_DISABLE= $(BIN)/jupyter lab notebooks

address: $(READY)  ## write the repository's address, from _config.yml, into the setup cell of each chapter
	$(BIN)/python tools/anywhere.py

bench: $(READY)  ## measure the speed claims as ratios; writes book/bench.json and its plot
	TQDM_DISABLE= $(BIN)/python tools/bench.py

# More or fewer rows: make readers MILLIONS=1
readers: $(READY)  ## measure the readers of the Census Bureau's files on made-up ones of 3 million rows; some minutes
	$(BIN)/python tools/readers.py $(or $(MILLIONS),3)

notebooks: $(READY)  ## execute every notebook again, store its outputs, and measure what it costs: book/status.json
	$(BIN)/python tools/execute.py

full: $(READY)  ## run the experiments at full size (2,000 releases each) into _build/full; some minutes
	BOOK_TRIALS=$${BOOK_TRIALS:-2000} $(BIN)/python tools/execute.py --into _build/full --part "The experiments"

figures: $(READY)  ## make the figures of README and front page again, and what the explorers show and load
	$(BIN)/python book/images/hero.py
	$(BIN)/python book/explore/trees.py
	$(BIN)/python book/images/explorers.py

clean:  ## remove everything that the other commands made
	rm -rf .venv _build .pytest_cache .hypothesis .ruff_cache .mypy_cache *.egg-info build dist

$(READY): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "PYTHON must be Python 3.11 or newer, got " + sys.version.split()[0] + "; try: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --quiet --require-hashes --requirement requirements.txt
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $(READY)
