"""OpenBLAS: Debian's, or one in the environment."""

import ctypes

from cblas import ROW_MAJOR, TRANSPOSED, Blas

BLAS = Blas("libopenblas.so.0", "libopenblas.so", ("cblas_somatcopy", (ROW_MAJOR, TRANSPOSED), ctypes.c_int))
prepare, results = BLAS.prepare, BLAS.results
