"""Records spaces of the tuner, and what pyATF finds in them: see scripts/techniques."""

import contextlib
import io
import json
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path


def record(mdh, scripts):
    """Measures all configurations of the spaces that scripts leave open."""
    for script in map(Path, scripts):
        workload = re.search(r"mdh tune (\S+)", script.read_text()).group(1)
        with tempfile.TemporaryDirectory() as folder:
            command = [mdh, "tune", workload, "--schedule", str(script), "--technique", "exhaustive",
                       "--for", "1h", "--db", folder]
            subprocess.run(command, check=True, stdout=sys.stderr)
            rows = evaluations(folder)
        names = sorted({name for configuration, _ in rows for name in configuration})
        lines = ["\t".join([*names, "cost"])]
        for configuration, outcome in rows:
            lines.append("\t".join([*(json.dumps(configuration[name]) for name in names), str(outcome)]))
        script.with_suffix(".tsv").write_text("\n".join(lines) + "\n")


def evaluations(folder):
    """The configurations of a database, each with its cost or failure; the model's choice is none of the space."""
    (path,) = Path(folder).glob("*.db")
    database = sqlite3.connect(path)
    found = {}
    query = "SELECT configuration, cost, failure FROM evaluation ORDER BY id"
    for configuration, cost, failure in database.execute(query):
        found[configuration] = failure if cost is None else cost
    spaces = [(json.loads(configuration), outcome) for configuration, outcome in found.items()]
    most = max(map(frozenset, (configuration for configuration, _ in spaces)),
               key=lambda names: sum(names == set(of) for of, _ in spaces))
    return [(configuration, outcome) for configuration, outcome in spaces if set(configuration) == most]


def pyatf(evaluations, seeds, tables):
    """Has pyATF's AUC bandit search the spaces of tables; writes after which evaluations it had found what."""
    for table in map(Path, tables):
        header, *lines = table.read_text().splitlines()
        names = header.split("\t")[:-1]
        costs = {}
        for line in lines:
            *values, cost = line.split("\t")
            costs[tuple(map(json.loads, values))] = cost
        curves = [curve(names, costs, evaluations, seed) for seed in range(seeds)]
        table.with_suffix(".pyatf.json").write_text(json.dumps(curves) + "\n")


def curve(names, costs, evaluations, seed):
    """[number of evaluations, cost] of each improvement of one search."""
    from pyatf import TP, Set, Tuner
    from pyatf.abort_conditions import Evaluations
    from pyatf.tuning_data import CostFunctionError
    from pyatf.search_techniques import AUCBandit, PatternSearch, SimulatedAnnealing, Torczon

    random.seed(seed)
    parameters = [f"p{n}" for n in range(len(names))]
    known = {values[:n] for values in costs for n in range(1, len(names) + 1)}
    of_names = []
    for n, parameter in enumerate(parameters):
        values = sorted({values[n] for values in costs})
        # pyATF asks a constraint for the names of its arguments.
        arguments = ", ".join(parameters[:n + 1])
        constraint = eval(f"lambda {arguments}: ({arguments},) in known", {"known": known})
        of_names.append(TP(parameter, Set(*values), constraint))
    steps, asked = [], 0

    def cost(configuration):
        nonlocal asked
        asked += 1
        found = costs[tuple(configuration[parameter] for parameter in parameters)]
        try:
            found = float(found)
        except ValueError:
            raise CostFunctionError(found) from None
        if not steps or found < steps[-1][1]:
            steps.append([asked, found])
        return found

    bandit = AUCBandit((SimulatedAnnealing(), PatternSearch(), Torczon()))
    tuner = Tuner().tuning_parameters(*of_names).search_technique(bandit).verbosity(0)
    with contextlib.redirect_stdout(io.StringIO()):
        tuner.tune(cost, Evaluations(evaluations))
    return steps


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["record", mdh, *scripts]:
            record(mdh, scripts)
        case ["pyatf", evaluations_, seeds_, *tables_]:
            pyatf(int(evaluations_), int(seeds_), tables_)
        case found:
            sys.exit(f"found {found}, expected record or pyatf")
