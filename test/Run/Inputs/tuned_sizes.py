"""Changes what a database has for other sizes than one: copies of its rows for many, or parameters that nobody has."""

import sqlite3
import sys

path, what, sizes = sys.argv[1:4]
database = sqlite3.connect(path)
query = "SELECT id FROM session WHERE sizes = ?"
session = database.execute(query, (sizes,)).fetchone()[0]
if what == "rename":
    database.execute(
        "UPDATE evaluation SET configuration = replace(configuration, '\"lanes\"', '\"lames\"') "
        "WHERE session = ?", (session,))
for number in range(int(what) if what.isdigit() else 0):
    new = database.execute(
        "INSERT INTO session (machine, program, sizes, technique, seed, started) "
        "SELECT machine, program, ?, technique, seed, started FROM session WHERE id = ?",
        (sizes.replace('"0.i":33', f'"0.i":{40 + number}'), session)).lastrowid
    columns = "number, configuration, cost, samples, complete, failure, message, technique, at, time"
    database.execute(
        f"INSERT INTO evaluation (session, {columns}) SELECT ?, {columns} FROM evaluation WHERE session = ?",
        (new, session))
database.commit()
