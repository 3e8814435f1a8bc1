"""Intel's MKL."""

import ctypes

from cblas import Blas

MARKS = ctypes.c_char(b"R"), ctypes.c_char(b"T")
BLAS = Blas("libmkl_rt.so", "libmkl_rt.so", ("MKL_Somatcopy", MARKS, ctypes.c_size_t), "cblas_sgemm_batch_strided")
prepare, results = BLAS.prepare, BLAS.results
