"""Check the journal of a dpts agent without R: python3 check_journal.py JOURNAL.csv [LAST_DIGEST]

agent_journal(agent, path) writes the file. Each row has the SHA-256 of the row before and of its own fields, so
that a row that was edited, taken out or put in is found. Rows that were cut off at the end are found if the last
digest is known from elsewhere: give it as the second argument.
"""
import csv
import hashlib
import sys

FIELDS = ["seq", "part", "time", "kind", "ticket", "t", "arm", "who", "note"]


def digest(text):
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def check(path, last=None):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows or set(FIELDS + ["digest"]) - set(rows[0]):
        return "This is no file of a journal: rows or columns are missing."
    if rows[0]["kind"] != "begin" or rows[0]["digest"] != digest(rows[0]["note"]):
        return "The first row is not the beginning of a journal."
    for number, row in enumerate(rows[1:], start=2):
        before = rows[number - 2]["digest"]
        if row["digest"] != digest("\x1f".join([before] + [row[field] for field in FIELDS])):
            return f"Row {number} does not fit the row before it."
    if last and rows[-1]["digest"] != last:
        return "The last digest is another: rows are missing, or were added."
    return None


if __name__ == "__main__":
    wrong = check(*sys.argv[1:3])
    if len(sys.argv) > 2:
        good = "The journal is whole."
    else:
        good = "All rows fit. Only the last digest shows whether rows are missing at the end."
    print(wrong or good)
    sys.exit(1 if wrong else 0)
