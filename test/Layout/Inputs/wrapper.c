#include <stdio.h>

int main(void) {
  int base[48], right = 0;
  for (int i = 0; i < 48; ++i)
    base[i] = i;
#ifdef __cplusplus
  const Layout<int> array(base, 2);
#endif
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 4; ++j) {
          const int expected = (b * 4 + j) * 6 + a * 3 + i;
#ifdef __cplusplus
          right += array[a][b][i][j] == expected && &array(a, b, i, j) == &array[a][b][i][j];
#else
          right += Layout_at(base, a, b, i, j, 2) == expected;
#endif
        }
  printf("%d of 48\n", right);
  return 0;
}
