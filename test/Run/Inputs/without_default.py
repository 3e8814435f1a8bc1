"""Takes the model's choice out of a database, so that another schedule is the best."""

import sqlite3
import sys

database = sqlite3.connect(sys.argv[1])
database.execute(
    "DELETE FROM evaluation WHERE configuration IN "
    "(SELECT configuration FROM evaluation WHERE technique = 'default')")
database.commit()
