#!/usr/bin/env python3
# gst-cudavision
# Copyright (C) 2026 the gst-cudavision authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""meltpool_training.py FOLDER - trains the same network with PyTorch, or with scikit-learn if
that is not installed, on the rows that `bench_meltpool_training N FOLDER` has written, and
prints balanced accuracy on the same test rows, and the seconds of one core.

40-164-5, ReLU, softmax, Adam, batches of 256, 15 epochs, 0.002 falling to 0 (scikit-learn:
in steps of an epoch); the epoch with the least loss on the second part."""
import sys
import time
import warnings

import numpy as np

EPOCHS, BATCH, RATE, HIDDEN = 15, 256, 2e-3, 164


def read(folder, part):
    x = np.fromfile(f"{folder}/{part}.f32", np.float32).reshape(-1, 40)
    return x, np.fromfile(f"{folder}/{part}.u8", np.uint8).astype(np.int64)


def balanced(truth, answer):
    return np.mean([np.mean(answer[truth == c] == c) for c in np.unique(truth)])


def train_torch(train, stop, test):
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(1)
    (x, y), (xs, ys) = ([torch.from_numpy(a) for a in part] for part in (train, stop))
    net = torch.nn.Sequential(torch.nn.Linear(40, HIDDEN), torch.nn.ReLU(),
                              torch.nn.Linear(HIDDEN, int(y.max()) + 1))
    adam = torch.optim.Adam(net.parameters(), RATE)
    steps = EPOCHS * -(-len(x) // BATCH)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(adam, steps)
    loss, best = torch.nn.CrossEntropyLoss(), (np.inf, None)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(x)).split(BATCH):
            adam.zero_grad()
            loss(net(x[rows]), y[rows]).backward()
            adam.step()
            falling.step()
        with torch.no_grad():
            now = loss(net(xs), ys).item()
            if now < best[0]:
                best = now, net(torch.from_numpy(test[0])).argmax(1).numpy()
    return best[1]


def train_sklearn(train, stop, test):
    from sklearn.neural_network import MLPClassifier
    from sklearn.metrics import log_loss
    warnings.filterwarnings("ignore", "Got `batch_size`")  # of the last batch
    net = MLPClassifier((HIDDEN,), alpha=0, batch_size=BATCH, learning_rate_init=RATE, random_state=1)
    classes, best = np.unique(train[1]), (np.inf, None)
    rng = np.random.default_rng(1)
    for epoch in range(EPOCHS):
        p = (epoch + 0.5) / EPOCHS
        rate = RATE * (1 - p) ** 2 * (1 + 2 * p)
        net.learning_rate_init = rate
        if epoch > 0:
            net._optimizer.learning_rate_init = rate
        order = rng.permutation(len(train[0]))
        for at in range(0, len(order), BATCH):
            rows = order[at:at + BATCH]
            net.partial_fit(train[0][rows], train[1][rows], classes=classes)
        now = log_loss(stop[1], net.predict_proba(stop[0]))
        if now < best[0]:
            best = now, net.predict(test[0])
    return best[1]


def main():
    parts = [read(sys.argv[1], part) for part in ("train", "stop", "test")]
    try:
        import torch  # noqa: F401
        name, train = "PyTorch", train_torch
    except ImportError:
        name, train = "scikit-learn", train_sklearn
    start = time.process_time()
    answer = train(*parts)
    print(f"{name}: {len(parts[0][0])} rows, {time.process_time() - start:.2f} s, "
          f"balanced accuracy {100 * balanced(parts[2][1], answer):.2f} %")


if __name__ == "__main__":
    main()
