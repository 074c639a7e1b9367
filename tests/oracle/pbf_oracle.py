"""Feature specification pbf40-v1 in NumPy and floating point, written from the
definitions alone (docs/design/meltpool.md): the oracle for the C and CUDA
backends. One frame at a time, slow on purpose."""
import numpy as np

SIDE = 40  # of the ROI by default


def label(mask, connectivity=4):
    """Components of a boolean picture, 1.. in raster order of first pixels."""
    steps = [(0, -1), (-1, 0), (0, 1), (1, 0)]
    if connectivity == 8:
        steps += [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    labels = np.zeros(mask.shape, int)
    count = 0
    for start in map(tuple, np.argwhere(mask)):
        if labels[start]:
            continue
        count += 1
        labels[start] = count
        todo = [start]
        while todo:
            y, x = todo.pop()
            for dy, dx in steps:
                v, u = y + dy, x + dx
                if (0 <= v < mask.shape[0] and 0 <= u < mask.shape[1]
                        and mask[v, u] and not labels[v, u]):
                    labels[v, u] = count
                    todo.append((v, u))
    return labels, count


def choose_pool(labels, count, ex, ey, radius):
    """Label of the melt pool; 0 if there is no component."""
    if count == 0:
        return 0
    here = labels[int(np.clip(np.floor(ey), 0, labels.shape[0] - 1)),
                  int(np.clip(np.floor(ex), 0, labels.shape[1] - 1))]
    if here:
        return here
    rows, columns = np.indices(labels.shape)
    near = (columns + 0.5 - ex) ** 2 + (rows + 0.5 - ey) ** 2 <= radius ** 2
    for area in (near, np.ones_like(near)):
        pixels = np.bincount(labels[area], minlength=count + 1)[1:]
        if pixels.max() > 0:
            return int(np.argmax(pixels)) + 1
    return 0


def brightest(frame, threshold=100, connectivity=4):
    """Centre (x, y) of the pixel with the largest 3x3 sum; of several the first in
    the largest component that has one."""
    padded = np.pad(frame.astype(int), 1)
    height, width = frame.shape
    sums = sum(padded[v:v + height, u:u + width]
               for v in range(3) for u in range(3))
    candidates = sums == sums.max()
    labels, count = label(frame >= threshold, connectivity)
    area = np.bincount(labels.ravel(), minlength=count + 1)
    held = np.unique(labels[candidates & (labels > 0)])
    if len(held):
        candidates &= labels == held[np.argmax(area[held])]
    y, x = np.argwhere(candidates)[0]
    return x + 0.5, y + 0.5


def ratio(y, x):
    """Square root of the ratio of the eigenvalues of the pool's moments."""
    if len(x) == 0:
        return 0.0
    moments = np.cov(np.stack([x, y]), bias=True) + np.eye(2) / 12
    small, large = np.linalg.eigvalsh(moments)
    return np.sqrt(max(small, 0.0) / large)


def hog(roi):
    padded = np.pad(roi, 1, mode="edge")
    gx = padded[1:-1, 2:] - padded[1:-1, :-2]
    gy = padded[2:, 1:-1] - padded[:-2, 1:-1]
    angle = np.degrees(np.arctan2(gy, gx)) % 180.0
    bins = np.clip(np.floor(angle / 20.0).astype(int), 0, 8)
    sums = np.zeros(9)
    np.add.at(sums, bins, np.hypot(gx, gy))
    return sums / np.sqrt((sums ** 2).sum() + 1.0)


def spatial(frame, ex, ey, threshold=100, connectivity=4, radius=4.0,
            inner=0.0, outer=20.0, min_area=1, side=SIDE):
    """The 20 spatial features of a frame whose pool is expected at (ex, ey),
    the ROI's corner and the components' areas but the pool's."""
    height, width = frame.shape
    x0 = int(np.clip(np.floor(ex) - side // 2, 0, width - side))
    y0 = int(np.clip(np.floor(ey) - side // 2, 0, height - side))
    roi = frame[y0:y0 + side, x0:x0 + side].astype(float)
    ex, ey = ex - x0, ey - y0
    f = np.zeros(20)

    labels, count = label(roi >= threshold, connectivity)
    pool = choose_pool(labels, count, ex, ey, radius)
    areas = np.bincount(labels.ravel(), minlength=count + 1)
    others = [a for l, a in enumerate(areas)
              if l > 0 and l != pool and a >= min_area]
    y, x = np.nonzero(labels == pool) if pool else (np.array([]),) * 2
    f[0], f[1], f[2] = len(x), sum(others), len(others)
    f[3] = ratio(y, x)
    f[4] = roi[labels == pool].mean() if pool else 0.0

    rows, columns = np.indices(roi.shape)
    dx, dy = columns + 0.5 - ex, rows + 0.5 - ey
    r2 = dx * dx + dy * dy
    ring = (r2 >= inner ** 2) & (r2 <= outer ** 2)
    sector = np.floor(np.degrees(np.arctan2(dy, dx)) % 360.0 / 60.0)
    for k in range(6):
        f[5 + k] = roi[ring & (sector == k)].sum()
    f[11:] = hog(roi)
    return f, (x0, y0)


def variances(rows, window=20):
    """Population variances of each feature over the last `window` rows."""
    rows = np.asarray(rows)
    return np.array([rows[max(0, i + 1 - window):i + 1].var(axis=0)
                     for i in range(len(rows))])
