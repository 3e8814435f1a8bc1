"""The start of a process that measures for `mdh tune` and `mdh bench`: `mdh.__main__` puts this folder on its path.

Such a process is the command again, which the extension starts as the program that runs: that is Python, which takes the
first word, `bench`, for a file. Python imports this module before it looks for one.
"""

import os
import sys

if sys.orig_argv[1:3] == ["bench", "--worker"]:
    from mdh._mdh import main

    code = main(sys.orig_argv[1:])
    # The interpreter is not set up yet, so that it could not end by itself.
    os._exit(code)
