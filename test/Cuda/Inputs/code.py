"""Runs a command, whose exit code must be the first argument; prints all that it prints."""

import subprocess
import sys

done = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
print(done.stdout)
wanted = int(sys.argv[1])
if done.returncode != wanted:
    sys.exit(f"exit code {done.returncode}, expected {wanted}")
print(f"exit code {wanted}, as expected")
