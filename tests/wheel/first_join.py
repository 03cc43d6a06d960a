# SPDX-License-Identifier: Apache-2.0
"""A first join of two frames, by a wheel on a machine that has nothing else. Run by scripts/fresh-machines."""

import pandas
import raydex

sales = pandas.DataFrame({"city": ["Rome", "Oslo", "Bern", "Rome"], "amount": [5, 7, 2, 1]})
cities = pandas.DataFrame({"city": ["Oslo", "Rome"], "country": ["Norway", "Italy"]})
rows = raydex.join(cities["city"], sales["city"])
joined = sales.take(rows.probe).assign(country=cities["country"].to_numpy()[rows.build])
print(joined)
assert joined.to_dict("list") == sales.merge(cities, on="city").to_dict("list")
