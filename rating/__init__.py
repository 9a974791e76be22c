"""The rating harness: seeded matches, ratings, leaderboards and reports.

Data flows one way: a schedule yields matches, the runner plays them into records, and everything else (ratings, tables,
pages) is a function of the records.
"""
