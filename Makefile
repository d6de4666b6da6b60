# make grade   grade the example submissions
# make test    what every change must pass: style, types, the katas' solution, the grader's tests, the quick proof
# make prove   the whole proof, and the tests that need a clock or minutes: on a machine that does little else
# make speed   the proof that cheating on speed does not pay: on a machine that does nothing else
PYTHON ?= python3
JOBS ?= 2
SEEDS ?= 20
BIN := .venv/bin

grade: .venv/installed
	$(BIN)/grader grade examples/submissions/* --out results --jobs $(JOBS)

test: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest --impl solution
	$(BIN)/pytest grader/tests -m "not timing" -W error -rs -n $(JOBS) --dist loadfile --no-loadscope-reorder
	$(BIN)/grader certify --quick --track all --jobs $(JOBS)

prove: .venv/installed
	$(BIN)/pytest grader/tests -m timing -W error -rs
	$(BIN)/grader certify --only zoo --track all --seeds $(SEEDS) --jobs $(JOBS) --markdown results/certified.md
	$(BIN)/grader certify --only attacks --track all --jobs $(JOBS) --markdown results/attacks.md

speed: .venv/installed
	$(BIN)/grader certify --only cheats --track all --markdown results/cheats.md

benchmark: .venv/installed
	$(BIN)/python -m benchmarks.student
	$(BIN)/python -m benchmarks.watch
	$(BIN)/python -m benchmarks.grade

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt "pip>=25.1"   # the first that knows --group
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group dev --editable ".[grader,slurm]"
	touch $@

clean:
	rm -rf .venv results

.PHONY: grade test prove speed benchmark clean
