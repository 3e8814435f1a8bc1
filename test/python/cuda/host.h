// CUDA's language on a host: one block after another, its threads as threads.
#include <barrier>
#include <functional>
#include <thread>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __shared__ static

struct dim3 {
  unsigned x = 0, y = 0;
};
static dim3 blockIdx;
static thread_local dim3 threadIdx;
static std::barrier<> *block;

static inline void __syncthreads() { block->arrive_and_wait(); }

static void launch(dim3 blocks, dim3 threads, const std::function<void()> &kernel) {
  for (blockIdx.y = 0; blockIdx.y < blocks.y; ++blockIdx.y)
    for (blockIdx.x = 0; blockIdx.x < blocks.x; ++blockIdx.x) {
      std::barrier<> all(threads.x * threads.y);
      block = &all;
      std::vector<std::thread> running;
      for (unsigned y = 0; y < threads.y; ++y)
        for (unsigned x = 0; x < threads.x; ++x)
          running.emplace_back([&kernel, x, y] {
            threadIdx = {x, y};
            kernel();
          });
      for (auto &thread : running)
        thread.join();
    }
}
