"""Blurs a photograph of a cat with blur.mlir, a two-dimensional convolution.

The photograph is Chelsea the cat, by Stéfan van der Walt (CC0), which scikit-image ships.
"""

import os

import numpy as np
from PIL import Image

from common import OUTPUT, checked, fetch, relative, run_mdh

PHOTO = "skimage/data/chelsea.png"


def gaussian(size, sigma):
    """A size x size filter of weights that fall off from its middle and sum up to 1."""
    distance = np.arange(size) - (size - 1) / 2
    line = np.exp(-(distance**2) / (2 * sigma**2))
    return (np.outer(line, line) / line.sum() ** 2).astype(np.float32)


def with_numpy(photo, weights):
    """The same blur, a filter weight at a time over the whole picture, in double precision."""
    height, width = photo.shape[0] - 4, photo.shape[1] - 4
    blurred = np.zeros((height, width, 3))
    for (r, s), weight in np.ndenumerate(weights):
        blurred += np.float64(weight) * photo[r : r + height, s : s + width]
    return blurred


def side_by_side(before, after):
    """Both pictures above one of their details, four times as large."""
    left, top, width, height = 125, 75, before.width // 4, 60
    detail = (left, top, left + width, top + height)
    sheet = Image.new("RGB", (2 * before.width + 8, before.height + 4 * height + 8), "white")
    for column, picture in enumerate([before, after]):
        x = column * (before.width + 8)
        sheet.paste(picture, (x, 0))
        large = picture.crop(detail).resize((4 * width, 4 * height), Image.Resampling.NEAREST)
        sheet.paste(large, (x, before.height + 8))
    return sheet


def main():
    (path,) = fetch(
        "scikit-image==0.26.0",
        ["--python-version", "3.11", "--platform", "manylinux_2_28_x86_64"],
        [PHOTO])
    before = Image.open(path).convert("RGB")
    photo = np.asarray(before, dtype=np.float32) / 255
    weights = gaussian(5, sigma=2)

    (blurred,), report = run_mdh(
        "blur.mlir", {"photo": photo, "filter": weights}, ["blurred"])

    worst = np.abs(blurred - with_numpy(photo, weights)).max()
    height, width, colours = blurred.shape
    print(f"blurred a photograph of {before.width} x {before.height} pixels: each of the "
          f"{height * width * colours} values of the result is a weighted mean of 25")
    print(f"time: {report['time_ms']['median']:.3f} ms, compiled in {report['compile_ms']:.0f} ms")
    print(f"checked: {checked(report)}; numpy differs by {worst:.1e} at most")
    if worst > 1e-5:
        raise SystemExit("that is too much: the result is wrong")

    # The values are cut off at the border, so that the picture is smaller by two pixels there.
    after = Image.fromarray((blurred * 255).round().clip(0, 255).astype(np.uint8))
    sheet = side_by_side(before.crop((2, 2, 2 + after.width, 2 + after.height)), after)
    for picture, name in [(after, "blurred.png"), (sheet, "before-and-after.png")]:
        file = os.path.join(OUTPUT, "blur", name)
        picture.save(file)
        print("wrote", relative(file))


if __name__ == "__main__":
    main()
