# SPDX-License-Identifier: Apache-2.0
"""A first join of two frames, by a wheel on a machine that has nothing else. Run by scripts/fresh-machines."""

import pandas
import raydex

sales = pandas.DataFrame({"city": ["Rome", "Oslo", "Bern", "Rome"], "amount": [5, 7, 2, 1]})
cities = pandas.DataFrame({"city": ["Oslo", "Rome"], "country": ["Norway", "Italy"]})
joined = raydex.merge(sales, cities, on="city")
print(joined)
pandas.testing.assert_frame_equal(joined, sales.merge(cities, on="city"))
