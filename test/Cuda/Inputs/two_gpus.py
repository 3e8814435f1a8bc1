"""Makes one program of all sessions of a database, the last one on another GPU: `two_gpus.py tuner.db`."""

import json
import sqlite3
import sys

database = sqlite3.connect(sys.argv[1])
database.execute("UPDATE session SET program = (SELECT program FROM session ORDER BY id LIMIT 1)")
other = json.dumps({"gpu": "another one", "chip": "sm_90"})
database.execute("UPDATE session SET machine = ? WHERE id = (SELECT max(id) FROM session)", [other])
database.commit()
