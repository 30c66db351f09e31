# Needs python3 (3.11 or newer), make and a C compiler. Everything else goes into .venv, which each target sets
# up as far as it needs: `make prove` installs the required dependencies only.
#
#   make PYTHON=python3.12 prove    another interpreter
#   make JOBS=8 test                more test processes (default 2)

PYTHON ?= python3
JOBS ?= 2

VENV := .venv
PY := $(VENV)/bin/python
SOURCES := core rules verify reports
MODULES := -m indexproof -m indexproof.__main__ -m indexproof.cli $(SOURCES:%=-p indexproof.%) \
	$(foreach tool,fuzz faults stability confluence,-p dev.$(tool)) -m dev.commands

# A virtual environment does not survive being moved or copied: in another place it is built anew.
ifneq ($(shell cat $(VENV)/place 2>/dev/null),$(CURDIR))
$(shell rm -f $(VENV)/place)
endif

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start the program many hundred times, and each start would compile it anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.NOTPARALLEL: # two pips in one environment get in each other's way
.DELETE_ON_ERROR:
.PHONY: help prove test trust mutants lint style types docs-check docs site bench bench-programs native test-native \
	library library-profiled native-profiled constraints clean

help: ## list the targets (this is what plain `make` does)
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

prove: $(VENV)/ready ## prove the whole catalogue and audit the published maps
	$(VENV)/bin/indexproof prove && $(VENV)/bin/indexproof check --builtin

test: $(VENV)/ready-test ## run the tests
	$(VENV)/bin/pytest -n $(JOBS) --dist worksteal --durations 25 --durations-min 2 --hypothesis-profile=ci

trust: $(VENV)/ready-cvc5 ## inject faults; prove a sample again in other words; check certificates
	$(VENV)/bin/indexproof dev faults --jobs $(JOBS)
	$(VENV)/bin/indexproof dev stability --sample 1 --mutants 10 --jobs $(JOBS)
	rm -rf $(VENV)/certificates
	$(VENV)/bin/indexproof prove --jobs $(JOBS) --max-rank $(CERTIFIED) --certificates $(VENV)/certificates
	$(VENV)/bin/indexproof-check $(VENV)/certificates

# Certificates of ops are checked up to this rank: a minute and a half. `make trust CERTIFIED=4` takes ten.
CERTIFIED := 1

mutants: $(VENV)/ready-test ## change the simplifier one comparison or number at a time and see it noticed (an hour)
	$(PY) tests/mutants/mutants.py --state $(VENV)/mutants

# A wheel with the native core, in an environment of its own for its tests and for the benchmark.
NATIVE := $(VENV)/native
native: $(VENV)/ready ## build dist/*.whl with the native core and install it in .venv/native (needs a C++ compiler)
	rm -rf dist build && mkdir dist
	$(PY) -m pip wheel -q --no-build-isolation --no-deps --wheel-dir dist .
	rm -rf build
	[ -x $(NATIVE)/bin/python ] || $(PYTHON) -m venv $(NATIVE)
	$(NATIVE)/bin/pip install -qq --force-reinstall --no-deps dist/*.whl
	$(NATIVE)/bin/pip install -qq --constraint constraints.txt indexproof
	$(NATIVE)/bin/python -c 'from indexproof.core.native import NATIVE; assert NATIVE'

test-native: native ## run the simplifier's tests with the native core
	$(NATIVE)/bin/pip install -qq --constraint constraints.txt 'indexproof[test]'
	$(NATIVE)/bin/pytest -n $(JOBS) --hypothesis-profile=ci $(NATIVE_TESTS)
NATIVE_TESTS := tests/core tests/rules tests/verify/test_derivation.py

# The simplifier without Python; reports/native_library.md describes it.
LIBRARY := $(VENV)/library
CXXFLAGS ?= -O3
library: ## build .venv/library/libindexproof.a and .so, their header, and an example that simplifies a file of maps
	@mkdir -p $(LIBRARY)
	$(CXX) -std=c++17 $(CXXFLAGS) -fPIC -fvisibility=hidden -ftls-model=initial-exec -c core/native/library.cc -o $(LIBRARY)/library.o
	$(AR) rcs $(LIBRARY)/libindexproof.a $(LIBRARY)/library.o
	$(CXX) $(CXXFLAGS) -shared $(LIBRARY)/library.o -o $(LIBRARY)/libindexproof.so
	cp core/native/indexproof.h $(LIBRARY)
	$(CXX) -std=c++17 $(CXXFLAGS) -I$(LIBRARY) examples/simplify_maps.cc $(LIBRARY)/libindexproof.a -o $(LIBRARY)/simplify_maps

# GCC lays out together what real maps run, which matters most when the caches hold other code.
PROFILE := $(abspath $(VENV))/profile
# Most loops run a few times: unrolled, they only make more code to fetch, which is what a cold call waits for.
COMPACT := $(foreach pass,unroll-loops peel-loops split-loops unswitch-loops tracer split-paths ipa-cp-clone,-fno-$(pass)) \
	-falign-functions=1 -falign-loops=1 -falign-jumps=1
PROFILED := -fprofile-use=$(PROFILE) -fprofile-partial-training -Wno-missing-profile $(COMPACT)
PROFILING := -fprofile-generate=$(PROFILE)
XLA_MAPS := $(VENV)/xla_maps.txt
$(XLA_MAPS): $(VENV)/ready tests/bench/corpora.py
	PYTHONPATH=tests/bench $(PY) -c 'from peers import *; import corpora; print(*map(Ours().convert, corpora.corpus("xla")), sep="\n")' > $@

library-profiled: $(XLA_MAPS) ## `make library` by GCC, guided by a profile of fusions that XLA optimised: faster
	rm -rf $(PROFILE)
	$(MAKE) library CXXFLAGS='-O2 $(PROFILING)'
	$(CC) -I$(LIBRARY) -c tests/core/native_client.c -o $(LIBRARY)/client.o
	$(CXX) $(PROFILING) $(LIBRARY)/client.o $(LIBRARY)/libindexproof.a -lpthread -o $(LIBRARY)/client
	$(LIBRARY)/client text flat $(XLA_MAPS) > /dev/null
	$(LIBRARY)/client text flat $(XLA_MAPS) quick > /dev/null
	$(MAKE) library CXXFLAGS='-O2 $(PROFILED)'

native-profiled: $(XLA_MAPS) ## `make native`, guided by the same maps
	rm -rf $(PROFILE)
	CXXFLAGS='$(PROFILING)' $(MAKE) native
	$(NATIVE)/bin/python -c 'import indexproof as i; [i.simplify(i.parse_map(m), quick=q) for m in open("$(XLA_MAPS)") for q in (0, 1)]'
	CXXFLAGS='$(PROFILED)' $(MAKE) native

lint: style types docs-check ## style, types, and whether the generated documents are current

style: $(VENV)/ready-lint ## ruff: lint and format
	$(VENV)/bin/ruff check --output-format concise .
	$(VENV)/bin/ruff format --check .

# mypy is given the package by name through a link, so that the checkout's own folder may be called anything.
# The tools for developing import pytest and Hypothesis, so their types are needed too.
types: $(VENV)/ready-lint $(VENV)/ready-test ## mypy --strict on the sources and the tools for developing
	@mkdir -p $(VENV)/types && ln -sfn ../.. $(VENV)/types/indexproof
	MYPYPATH=$(VENV)/types:tests $(VENV)/bin/mypy $(MODULES)
	PYTHONPATH=tests $(PY) -m dev.translate --check

docs-check: $(VENV)/ready ## fail if a generated document is out of date
	$(VENV)/bin/indexproof dev docs --check

site: $(VENV)/ready-site ## build the documentation site in .venv/site, warnings are errors
	$(VENV)/bin/zensical build --strict --clean --config-file mkdocs.yml

docs: $(VENV)/ready $(VENV)/ready-lint ## write the generated documents and code anew
	$(VENV)/bin/indexproof dev docs
	@mkdir -p $(VENV)/types && ln -sfn ../.. $(VENV)/types/indexproof
	PYTHONPATH=tests $(PY) -m dev.translate

bench: $(VENV)/ready-bench native-profiled library-profiled ## run the benchmarks (half an hour, most of it spent in the slow peers)
	$(VENV)/bin/pytest tests/bench -s -q -o python_files='bench_*.py' -o python_functions='bench_*'
	$(PY) -W ignore tests/bench/simplifier.py --write
	$(PY) -W ignore tests/bench/simplifier.py --held-out reports/benchmark/simplifier.json --write

bench-programs: $(VENV)/ready-test ## measure whole programs of up to 42,000 instructions (fifteen minutes)
	$(PY) -W ignore tests/bench/whole_programs.py

constraints: ## write constraints.txt anew, with the newest versions that pyproject.toml allows
	rm -rf $(VENV)/fresh && $(PYTHON) -m venv $(VENV)/fresh
	$(VENV)/fresh/bin/pip install -qq 'setuptools>=77'
	$(VENV)/fresh/bin/pip install -qq --no-build-isolation '.[dev,distributed]'
	sed -i.old '/^[^#]/d' constraints.txt && rm constraints.txt.old
	$(VENV)/fresh/bin/pip freeze --all --exclude pip --exclude indexproof >> constraints.txt
	rm -rf $(VENV)/fresh build indexproof.egg-info

clean: ## remove .venv, caches and built packages
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment. `place` is the bare environment, `ready` adds indexproof itself, `ready-X` adds the extra X.
# Each file is written last, so that an interrupted installation is taken up again.
# Bytecode is made of what is imported, when it is: compiling all 9,000 modules is half of the installation.
INSTALL := $(PY) -m pip install -qq --no-compile --no-build-isolation --constraint constraints.txt

$(VENV)/place:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and "indexproof needs Python 3.11 or newer, and \
	$(PYTHON) is %d.%d: install a newer one, or name it with make PYTHON=..." % v[:2])'
	@echo "setting up $(VENV) (once)"
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV) || { echo "$(PYTHON) cannot make virtual environments: it lacks the standard module venv \
	or ensurepip (on Debian and Ubuntu: apt install python3-venv)" >&2; rm -rf $(VENV); exit 1; }
	@printf '%s' "$(CURDIR)" > $@

$(VENV)/ready: $(VENV)/place pyproject.toml constraints.txt
	@$(PY) -m pip install -qq --constraint constraints.txt setuptools
	@$(INSTALL) --editable .
	@touch $@

# the extras that CI needs, at once: each run of pip builds and resolves anew
$(VENV)/ready-ci: $(VENV)/ready
	@$(INSTALL) --editable '.[lint,site,test]'
	@touch $(addprefix $(VENV)/ready-,cvc5 lint site test) $@

$(VENV)/ready-%: $(VENV)/ready
	@$(INSTALL) --editable '.[$*]'
	@touch $@
