# make grade   grade the example submissions
# make speed   the proof that cheating on speed does not pay: on a machine that does nothing else
# make test    everything else: style, types, the katas' solution, the grader's tests, the proof of the tests
PYTHON ?= python3
JOBS ?= 2
SEEDS ?= 10
BIN := .venv/bin

grade: .venv/installed
	$(BIN)/grader grade examples/submissions/* --out results --jobs $(JOBS)

test: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest --impl solution
	$(BIN)/pytest grader/tests -W error -rs -n $(JOBS) --dist loadfile
	$(BIN)/grader certify --only zoo --seeds $(SEEDS) --jobs $(JOBS) --markdown results/certified.md
	$(BIN)/grader certify --only attacks --jobs $(JOBS) --markdown results/attacks.md

speed: .venv/installed
	$(BIN)/grader certify --only cheats --markdown results/cheats.md

benchmark: .venv/installed
	$(BIN)/python -m benchmarks.student
	$(BIN)/python -m benchmarks.watch
	$(BIN)/python -m benchmarks.grade

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

clean:
	rm -rf .venv results

.PHONY: grade test speed benchmark clean
