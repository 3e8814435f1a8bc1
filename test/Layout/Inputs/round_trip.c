#include <stdio.h>

int main(void) {
  int right = 0, index[2];
  for (int x = 0; x < 60; ++x) {
    layout_inv(x, index);
    right += layout_apply(index[0], index[1]) == x;
  }
  printf("%d of 60\n", right);
  return 0;
}
