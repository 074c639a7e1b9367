"""Block motion search in NumPy, written from the definitions alone
(docs/design/motion.md): the oracle for the reference implementation and the
backends. Costs of all candidates of a block are computed at once as one array, in
which the methods look up the candidates that they visit. Slow on purpose, for small frames."""
import numpy as np

FULL, FULL_BRUTE, STEP, ZONAL, FIELD = range(5)
HALF_OPEN, INCLUSIVE = range(2)
PAD, INSIDE = range(2)
RASTER, SHORT = range(2)
NONE = 0xffffffff

PARTIAL, STATIC, INTRA_LIKE = 1, 2, 4


class Config:
    def __init__(self, width, height, depth=8, method=FULL, granularity=2,
                 block_size=32, range=64, window=HALF_OPEN, border=PAD,
                 tie=SHORT, **others):
        self.__dict__.update(locals())
        self.lam = others.pop("lambda", 0)
        self.subpel = others.pop("subpel", 0)
        self.references = others.pop("references", 1)
        self.bidirectional = others.pop("bidirectional", 0)
        assert not others, others


def code_length(value):
    """Bits of a signed Exp-Golomb code: 2 floor(log2(k + 1)) + 1 for code
    number k = 2v - 1 for v > 0, -2v else."""
    number = 2 * value - 1 if value > 0 else -2 * value
    return 2 * ((number + 1).bit_length() - 1) + 1


class Picture:
    """A plane with all its samples at quarter pixels, edges repeated far enough
    out for every vector."""

    def __init__(self, samples, depth, margin):
        self.margin = m = margin
        most = (1 << depth) - 1
        p = np.pad(samples.astype(np.int64), m + 4, mode="edge")
        taps = (1, -5, 20, 20, -5, 1)

        def filtered(a, axis):
            """Value k lies between samples k + 2 and k + 3."""
            n = a.shape[axis] - 5
            return sum(t * np.take(a, range(i, i + n), axis)
                       for i, t in enumerate(taps))

        # all arrays cut to the same raster: sample (y, x) of the frame at
        # [y + m, x + m], with one more row and column at the far sides
        h, w = samples.shape[0] + 2 * m + 1, samples.shape[1] + 2 * m + 1
        at = {}
        at[0, 0] = p[4:4 + h, 4:4 + w]
        across = filtered(p, 1)
        down = filtered(p, 0)
        at[0, 2] = np.clip((across[4:4 + h, 2:2 + w] + 16) >> 5, 0, most)
        at[2, 0] = np.clip((down[2:2 + h, 4:4 + w] + 16) >> 5, 0, most)
        both = filtered(across, 0)
        at[2, 2] = np.clip((both[2:2 + h, 2:2 + w] + 512) >> 10, 0, most)

        def value(qy, qx):
            """Of the half-pixel raster, (qy, qx) even, 0 to 4 quarters."""
            a = at[qy % 4, qx % 4]
            a = np.roll(a, (-(qy // 4), -(qx // 4)), (0, 1))
            return a

        for qy in range(4):
            for qx in range(4):
                if (qy, qx) in at:
                    continue
                # the two nearest integer and half samples; on the diagonals
                # those are the ones above or below and at a side
                if qy % 2 == 0:
                    pair = value(qy, qx - 1), value(qy, qx + 1)
                elif qx % 2 == 0:
                    pair = value(qy - 1, qx), value(qy + 1, qx)
                else:
                    near_y = 0 if qy == 1 else 4
                    near_x = 0 if qx == 1 else 4
                    pair = value(near_y, 2), value(2, near_x)
                at[qy, qx] = (pair[0] + pair[1] + 1) >> 1
        self.at = at

    def block(self, qx, qy, x, y, w, h):
        """The block at (x, y) moved by (qx, qy) quarter pixels."""
        a = self.at[qy & 3, qx & 3]
        y += self.margin + (qy >> 2)
        x += self.margin + (qx >> 2)
        assert min(x, y) >= 0
        part = a[y:y + h, x:x + w]
        assert part.shape == (h, w)
        return part


def reduce_by_four(plane):
    h, w = plane.shape
    p = np.pad(plane.astype(np.int64), ((0, -h % 4), (0, -w % 4)), mode="edge")
    sums = p.reshape(p.shape[0] // 4, 4, p.shape[1] // 4, 4).sum((1, 3))
    return (sums + 8) >> 4


class Frame:
    def __init__(self, samples, config):
        self.samples = samples.astype(np.int64)
        margin = config.range + 4 + config.block_size
        self.full = Picture(samples, config.depth, margin)
        self.on8 = self.samples >> (config.depth - 8)
        self.search = (self.full if config.depth == 8
                       else Picture(self.on8, 8, margin))
        self.small = reduce_by_four(self.on8)


class Block:
    """The candidates of a block and their costs; `order` is what was visited."""

    def __init__(self, config, current, reference, x, y, prior):
        self.c = c = config
        self.x, self.y = x, y
        self.w = min(c.block_size, c.width - x)
        self.h = min(c.block_size, c.height - y)
        self.current, self.reference = current, reference
        self.prior = prior
        last = c.range - (c.window == HALF_OPEN)
        self.x0, self.x1, self.y0, self.y1 = -c.range, last, -c.range, last
        if c.border == INSIDE:
            self.x0 = max(self.x0, -x)
            self.y0 = max(self.y0, -y)
            self.x1 = min(self.x1, c.width - x - self.w)
            self.y1 = min(self.y1, c.height - y - self.h)
        self.order = []
        self.costs = {}
        self.best = None
        self.mine = current.on8[y:y + self.h, x:x + self.w]
        m = reference.search.margin
        ref = reference.search.at[0, 0]
        windows = np.lib.stride_tricks.sliding_window_view(
            ref, (self.h, self.w))[
                y + m + self.y0:y + m + self.y1 + 1,
                x + m + self.x0:x + m + self.x1 + 1]
        self.sads = np.abs(windows - self.mine).sum((2, 3))
        self.j = self.sads + c.lam * (
            np.array([[code_length(4 * v - prior[1])]
                      for v in range(self.y0, self.y1 + 1)])
            + np.array([[code_length(4 * v - prior[0])
                         for v in range(self.x0, self.x1 + 1)]]))

    def holds(self, d):
        return self.x0 <= d[0] <= self.x1 and self.y0 <= d[1] <= self.y1

    def clamp(self, x, y):
        return (min(max(x, self.x0), self.x1), min(max(y, self.y0), self.y1))

    def cost(self, d):
        return int(self.j[d[1] - self.y0, d[0] - self.x0])

    def visit(self, d):
        """Whether d becomes the best."""
        if not self.holds(d) or d in self.costs:
            return False
        self.order.append(d)
        self.costs[d] = self.cost(d)
        if self.best is None or self.costs[d] < self.costs[self.best]:
            self.best = d
            return True
        return False

    def two_best(self):
        """Visits after the first of a vector change nothing, as the cost of
        the second best never rises; so they are the two of least cost, the
        first visited among equals."""
        ranked = sorted(range(len(self.order)),
                        key=lambda i: (self.costs[self.order[i]], i))
        second = self.order[ranked[1]] if len(ranked) > 1 else None
        assert self.order[ranked[0]] == self.best
        return self.best, second

    # sub-pixel and full-depth figures

    def bits(self, q):
        return (code_length(q[0] - self.prior[0])
                + code_length(q[1] - self.prior[1]))

    def sub_cost(self, q):
        there = self.reference.search.block(*q, self.x, self.y, self.w, self.h)
        return int(np.abs(there - self.mine).sum()) + self.c.lam * self.bits(q)

    def full_difference(self, q):
        mine = self.current.samples[self.y:self.y + self.h,
                                    self.x:self.x + self.w]
        return mine - self.reference.full.block(
            *q, self.x, self.y, self.w, self.h)

    def full_cost(self, q):
        unit = 1 << (self.c.depth - 8)
        return (int(np.abs(self.full_difference(q)).sum())
                + unit * self.c.lam * self.bits(q))


def full_search(b):
    every = [(x, y) for y in range(b.y0, b.y1 + 1)
             for x in range(b.x0, b.x1 + 1)]
    if b.c.tie == SHORT:
        every.sort(key=lambda d: (d[0] ** 2 + d[1] ** 2, d[1], d[0]))
    for d in every:
        b.visit(d)


def step_search(b):
    half, shift = {0: (1, 1), 1: (3, 2), 2: (7, 3), 3: (6, 3)}[
        b.c.granularity]
    spacing = max((1 << (b.c.range.bit_length() - 1)) >> shift, 1)
    b.visit((0, 0))
    while True:
        cx, cy = b.best
        for j in range(-half, half + 1):
            for i in range(-half, half + 1):
                if (i, j) != (0, 0):
                    b.visit((cx + i * spacing, cy + j * spacing))
        if spacing == 1:
            return
        spacing = max(spacing >> shift, 1)


class Zonal:
    # (x, y, point number), and what the distance is divided by
    CORNERS = {1: (-1, -1), 3: (1, -1), 6: (-1, 1), 8: (1, 1)}
    SIDES = {2: (0, -1), 4: (-1, 0), 5: (1, 0), 7: (0, 1)}
    TWO = {1: [(-1, 0), (0, -1)], 2: [(-1, -1), (1, -1)],
           3: [(0, -1), (1, 0)], 4: [(-1, 1), (-1, -1)],
           5: [(1, -1), (1, 1)], 6: [(-1, 0), (0, 1)],
           7: [(-1, 1), (1, 1)], 8: [(1, 0), (0, 1)]}

    def __init__(self, b, prior_field, column, row):
        self.b = b
        self.distance = self.number = self.rounds = 0
        self.start(prior_field, column, row)
        self.rings(3)
        if self.distance == 1:
            self.distance = 0
            self.two_points()
        if self.distance >= 5:
            self.distance = 5
            r = b.c.range
            for y in range(-r, r + 1, 5):
                for x in range(-r, r + 1, 5):
                    self.look(x, y, 0, 5)
        while self.distance > 0:
            self.distance = self.number = 0
            self.rings(2)
            if self.distance == 1:
                self.distance = 0
                if self.number:
                    self.two_points()

    def look(self, x, y, number, distance):
        if self.b.visit((x, y)):
            self.number, self.distance, self.rounds = number, distance, 0

    def start(self, prior_field, column, row):
        def prior(dx, dy):
            x, y = column + dx, row + dy
            if prior_field is not None and (0 <= y < prior_field.shape[0]
                                            and 0 <= x < prior_field.shape[1]):
                v = (prior_field[y, x] + 2) // 4
                self.look(*self.b.clamp(int(v[0]), int(v[1])), 0, 0)

        prior(0, 0)
        self.look(0, 0, 0, 0)
        prior(-1, 0)
        prior(1, 0)
        prior(0, -1)
        prior(0, 1)
        self.look(*self.b.clamp(*pyramid(self.b)), 0, 0)

    def rings(self, patience):
        cx, cy = self.b.best
        d = 1
        while d <= self.b.c.range:
            self.rounds += 1
            for x, y, number, distance in self.ring(d):
                self.look(cx + x, cy + y, number, distance)
            if self.rounds >= patience:
                return
            d *= 2

    def ring(self, d):
        if d > 8:
            points = [(0, -d), (-d, 0), (d, 0), (0, d)]
            for q in (d // 4, d // 2, 3 * d // 4):
                points += [(-q, q - d), (q, q - d), (-q, d - q), (q, d - q)]
            return [(x, y, 0, d) for x, y in points]
        out = []
        for number in (2, 1, 3, 4, 5, 6, 8, 7):
            if number in self.SIDES:
                x, y = self.SIDES[number]
                out.append((x * d, y * d, number, d))
            elif d > 1:
                x, y = self.CORNERS[number]
                out.append((x * (d // 2), y * (d // 2), number, d // 2))
        return out

    def two_points(self):
        cx, cy = self.b.best
        for x, y in self.TWO[self.number]:
            self.look(cx + x, cy + y, 0, 2)


def pyramid(b):
    q = max(b.c.block_size // 4, 4)
    r = max(b.c.range // 4, 1)
    mine, there = b.current.small, b.reference.small
    h, w = mine.shape
    rows = np.arange(b.y // 4, b.y // 4 + q)
    columns = np.arange(b.x // 4, b.x // 4 + q)
    part = mine[np.ix_(np.minimum(rows, h - 1), np.minimum(columns, w - 1))]
    best = None
    for dy in range(-r, r + 1):
        for dx in range(-r, r + 1):
            other = there[np.ix_(np.clip(rows + dy, 0, h - 1),
                                 np.clip(columns + dx, 0, w - 1))]
            sad = int(np.abs(part - other).sum())
            if best is None or sad < best[0]:
                best = sad, 4 * dx, 4 * dy
    return best[1:]


def refine(b, whole):
    q = 4 * whole[0], 4 * whole[1]
    cost = b.cost(whole)
    for spacing in (2, 1)[:b.c.subpel]:
        centre = q
        for j in (-1, 0, 1):
            for i in (-1, 0, 1):
                d = centre[0] + i * spacing, centre[1] + j * spacing
                if (d == centre or not 4 * b.x0 <= d[0] <= 4 * b.x1
                        or not 4 * b.y0 <= d[1] <= 4 * b.y1):
                    continue
                there = b.sub_cost(d)
                if there < cost:
                    q, cost = d, there
    return q


def search_block(c, current, reference, x, y, prior_field):
    """(x, y, cost), (sad, zero_sad, second, intra, sse, flags)"""
    column, row = x // c.block_size, y // c.block_size
    prior = ((0, 0) if prior_field is None
             else tuple(int(v) for v in prior_field[row, column]))
    b = Block(c, current, reference, x, y, prior)
    if c.method in (FULL, FULL_BRUTE):
        full_search(b)
    elif c.method == STEP:
        step_search(b)
    else:
        Zonal(b, prior_field, column, row)
    best, second = b.two_best()
    q = refine(b, best)
    difference = b.full_difference(q)
    sad = int(np.abs(difference).sum())
    mine = current.samples[y:y + b.h, x:x + b.w]
    mean = int(np.floor(mine.sum() / mine.size + 0.5))
    intra = int(np.abs(mine - mean).sum())
    flags = 0
    if b.w < c.block_size or b.h < c.block_size:
        flags |= PARTIAL
    if q == (0, 0) and sad <= b.w * b.h << (c.depth - 8):
        flags |= STATIC
    if sad > intra:
        flags |= INTRA_LIKE
    return ((*q, b.full_cost(q)),
            (sad, int(np.abs(b.full_difference((0, 0))).sum()),
             NONE if second is None
             else b.full_cost((4 * second[0], 4 * second[1])),
             intra, int((difference ** 2).sum()), flags))


def search(c, current, reference, prior_field):
    """vectors (rows, columns, 3), blocks (rows, columns, 6)"""
    found = [[search_block(c, current, reference, x, y, prior_field)
              for x in range(0, c.width, c.block_size)]
             for y in range(0, c.height, c.block_size)]
    return (np.array([[v for v, _ in row] for row in found]),
            np.array([[b for _, b in row] for row in found]))


def stream(c, pictures):
    """For each frame (fields, prediction, residual), fields being (distance,
    vectors, blocks)."""
    frames = [Frame(p, c) for p in pictures]
    out = []
    for n, frame in enumerate(frames):
        fields = []
        for k in range(1, c.references + 1):
            for distance in (-k, k) if c.bidirectional else (-k,):
                if not 0 <= n + distance < len(frames):
                    continue
                number = len(fields)
                prior = None
                if n > 0 and number < len(out[n - 1][0]):
                    before = out[n - 1][0][number]
                    if before[0] == distance:
                        prior = before[1][:, :, :2]
                fields.append((distance,) + search(
                    c, frame, frames[n + distance], prior))
        out.append((fields,) + predict(c, frames, n, fields))
    return out


def predict(c, frames, n, fields):
    middle = 1 << (c.depth - 1)
    prediction = np.full((c.height, c.width), middle, np.int64)
    for y in range(0, c.height, c.block_size):
        for x in range(0, c.width, c.block_size):
            at = y // c.block_size, x // c.block_size
            if not fields:
                continue
            costs = [int(v[at][2]) for _, v, _ in fields]
            f = costs.index(min(costs))
            w = min(c.block_size, c.width - x)
            h = min(c.block_size, c.height - y)
            qx, qy = (int(v) for v in fields[f][1][at][:2])
            prediction[y:y + h, x:x + w] = frames[n + fields[f][0]].full.block(
                qx, qy, x, y, w, h)
    residual = np.clip(middle + frames[n].samples - prediction, 0,
                       (1 << c.depth) - 1)
    return prediction, residual
