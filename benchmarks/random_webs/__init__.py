"""Random little webs, crawled under random circumstances: is a text lost?"""
