# make grade    grade the example submissions
# make test     the quick tests, for everybody: about four minutes, and only Python is needed
# make check    everything that a change must pass: make test, style, types, Slurm, browser, notebooks, all katas
# make prove    the full proof, and tests that take minutes or measure time; needs an otherwise idle machine
# make docs     the documentation as a site, in site/
# make dist     the wheel and the sdist in dist/, checked, and built twice to show that both builds are equal
# make clean    remove what these commands created
#
# For authors and workflows:
# make translations  write new English texts into the catalogues, and list what is not translated
# make portable tests under other CPUs, thread counts, locales, time zones and terminal widths
# make lowest   the tests of code that uses private APIs, with the lowest versions that pyproject.toml allows
# make gpu      everything that only a GPU can show, in ten minutes; make gpu-bundle: the same for a machine without network
# make speed    the proof about cheats on speed; needs an idle machine
# make sbom     the packages that the engine and the grader need, in sbom.json
# make audit    known vulnerabilities of the packages in uv.lock
# make coverage the lines that the tests run, also in processes that they start
#
# JOBS submissions are graded in parallel. TESTERS processes run the grader's tests, which mostly wait for other processes.
PYTHON ?= python3
JOBS ?= 2
TESTERS ?= 3
SEEDS ?= 20
BIN := .venv/bin
TEST = $(BIN)/pytest grader/tests -m "not timing" -W error -rs -n $(TESTERS) --dist loadfile --no-loadscope-reorder
LOWEST := .venv/lowest/bin
RELEASE := .venv/release/bin
INTERNALS := unit/test_inputs unit/test_diagnosis unit/test_compute_katas
VARIATIONS := ATEN_CPU_CAPABILITY=default ATEN_CPU_CAPABILITY=avx2 OMP_NUM_THREADS=1 OMP_NUM_THREADS=8 \
	LC_ALL=C TZ=Asia/Kolkata COLUMNS=60
TOGETHER := ATEN_CPU_CAPABILITY=default OMP_NUM_THREADS=1 LC_ALL=C TZ=Asia/Kolkata COLUMNS=60
PRINTED := integration/test_docs_run integration/test_repro_code integration/test_bad_calls \
	unit/test_printed_output unit/test_examples unit/test_stated_figures unit/test_literals unit/test_diagnosis unit/test_report
export PYTHONDONTWRITEBYTECODE :=   # because the tests start hundreds of processes that import the same modules

grade: .venv/grade
	$(BIN)/grader grade examples/submissions/* --out results --jobs $(JOBS)

test: .venv/test
	@$(MAKE) --no-print-directory --jobs 2 solution proof
	@$(MAKE) --no-print-directory tests

check: programs
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory rest

rest: programs .venv/check   # what `make check` runs after `make test`
	@$(MAKE) --no-print-directory style
	@$(MAKE) --no-print-directory rest-of-tests
	@$(MAKE) --no-print-directory rest-of-proof

programs:
	@$(PYTHON) grader/tests/support/programs.py

tests: .venv/test
	$(TEST) --tier quick

rest-of-tests: .venv/check
	$(TEST) --tier rest

proof: .venv/test   # TERM=dumb: no progress bar between the dots of the solution, which runs at the same time
	TERM=dumb $(BIN)/grader certify --quick --jobs $(JOBS)

rest-of-proof: .venv/check   # proofs of `make test` are stored and not repeated
	$(BIN)/grader certify --quick --kata all --jobs $(JOBS)

style: .venv/check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

solution: .venv/test
	$(BIN)/pytest --impl solution

prove: .venv/check
	$(BIN)/pytest grader/tests -m "timing and not speed" -W error -rs
	$(BIN)/grader certify --only zoo --kata all --seeds $(SEEDS) --jobs $(JOBS) --out results/certified.md

translations: .venv/test
	$(BIN)/python -m scripts.translations

portable: .venv/check
	for variation in $(VARIATIONS); do echo "$$variation"; env "$$variation" $(BIN)/pytest --impl solution || exit 1; done
	taskset -c 0 $(BIN)/pytest --impl solution
	env $(TOGETHER) taskset -c 0 $(BIN)/pytest $(PRINTED:%=grader/tests/%.py) -m "not timing" -W error -rs

speed: .venv/check
	$(BIN)/pytest grader/tests/integration/test_cheats.py -W error -rs

gpu:
	$(firstword $(wildcard $(BIN)/python) $(PYTHON)) -m benchmarks.prove_gpu --minutes 9

gpu-bundle: .venv/check
	$(BIN)/python -m benchmarks.prove_gpu.bundle

lowest:
	$(PYTHON) -m venv .venv/lowest
	$(LOWEST)/python -m pip install --quiet uv
	$(LOWEST)/uv pip install --python $(LOWEST)/python --resolution lowest-direct --group students --editable ".[grader,slurm]"
	$(LOWEST)/pytest --impl solution --track core
	$(LOWEST)/pytest $(INTERNALS:%=grader/tests/%.py)
	$(LOWEST)/grader grade examples/submissions/complete --out .venv/lowest/results
	grep -q '^"complete",100.0,100.0,' .venv/lowest/results/gradebook.csv

.venv/release/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv/release
	$(RELEASE)/python -m pip install --quiet --constraint constraints.txt "pip>=25.1"
	$(RELEASE)/python -m pip install --quiet --constraint constraints.txt --group release
	touch $@

dist: .venv/release/installed
	rm -rf dist
	for folder in dist/again dist; do $(RELEASE)/python -m build --no-isolation --outdir $$folder || exit 1; done
	for file in dist/*.*; do cmp "$$file" "dist/again/$${file#dist/}" || exit 1; done
	rm -r dist/again
	$(RELEASE)/twine check --strict dist/*
	$(RELEASE)/check-wheel-contents dist/*.whl

sbom: .venv/release/installed
	$(RELEASE)/uv export --quiet --frozen --no-dev --extra grader --no-emit-project --output-file .venv/release/locked.txt
	$(RELEASE)/cyclonedx-py requirements .venv/release/locked.txt --pyproject pyproject.toml --output-reproducible --output-file sbom.json

audit: .venv/release/installed
	$(RELEASE)/uv export --quiet --frozen --all-extras --all-groups --no-emit-project --output-file .venv/release/locked.txt
	$(RELEASE)/pip-audit --disable-pip --require-hashes --requirement .venv/release/locked.txt

coverage: .venv/check
	rm -f .coverage*
	$(BIN)/coverage run -m pytest grader/tests -m "not timing" -n $(TESTERS) --dist loadfile
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --format markdown > coverage.md
	tail -1 coverage.md sbom.json

benchmark: .venv/check
	$(BIN)/python -m benchmarks.table

docs: .venv/check
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

.venv/grade .venv/test .venv/check: pyproject.toml constraints.txt scripts/install.py
	@$(PYTHON) scripts/install.py $(@F)

clean:
	rm -rf .venv results dist site .coverage* coverage.md sbom.json

.PHONY: grade test check rest programs tests rest-of-tests proof rest-of-proof style solution prove translations portable lowest speed gpu gpu-bundle dist sbom audit coverage benchmark docs clean
