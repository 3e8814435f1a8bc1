#include <stdio.h>

/* Every point of [1 to 20 step 3 width 2, 7 step 2] belongs to one thread of the launch. */
int main(void) {
  int count[32][8] = {{0}}, operative = 0, right = 0;
  for (int64_t block = 0; block < BLOCKS; ++block) {
    for (int64_t thread = 0; thread < THREADS; ++thread) {
      int64_t index[2] = {0, 0};
      if (map(block, thread, index)) {
        ++operative;
        ++count[index[0]][index[1]];
      }
    }
  }
  for (int i = 0; i < 32; ++i) {
    for (int j = 0; j < 8; ++j) {
      const int expected = i >= 1 && i < 20 && (i - 1) % 3 < 2 && j < 7 && j % 2 < 1;
      right += count[i][j] == expected;
    }
  }
  printf("%d operative, %d of 256\n", operative, right);
  return 0;
}
