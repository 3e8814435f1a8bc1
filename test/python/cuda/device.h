// As much of CUDA's language as the templates use, for clang without an installation of CUDA.
#define __CUDACC__ // as clang's own header does
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))

#define MDH_SPECIAL(NAME, FUNCTION)                                                                \
  struct NAME {                                                                                    \
    __device__ operator unsigned() const { return FUNCTION(); }                                    \
  }
MDH_SPECIAL(ThreadX, __nvvm_read_ptx_sreg_tid_x);
MDH_SPECIAL(ThreadY, __nvvm_read_ptx_sreg_tid_y);
MDH_SPECIAL(BlockX, __nvvm_read_ptx_sreg_ctaid_x);
MDH_SPECIAL(BlockY, __nvvm_read_ptx_sreg_ctaid_y);
static __device__ const struct {
  ThreadX x;
  ThreadY y;
} threadIdx{};
static __device__ const struct {
  BlockX x;
  BlockY y;
} blockIdx{};
