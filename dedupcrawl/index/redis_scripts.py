"""What runs on the Redis server: each of these Lua scripts is one atomic step on the keys of one index.

The journal is a hash of rows numbered from 0, which are never removed, so its length is the next number. A client that
says how many rows it *knows* gets those it does not know with the answer, and how many verdicts were withdrawn. The
window holds the tokens (see `index.redis_journal`) of the newest rows: by them a script sees whether any row that the
client does not know could change what the client has found out.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

WINDOW = 256
"""Rows whose tokens are kept; a client that knows fewer of the rows is first told what it missed."""

_BYTES_AT_ONCE = 4_000_000  # of rows in one answer, about


@dataclass(frozen=True, slots=True)
class Script:
    """A Lua script: the server compiles its source once, and it is called by its SHA-1 from then on."""

    source: str
    sha: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sha", hashlib.sha1(self.source.encode(), usedforsecurity=False).hexdigest())


# KEYS: meta, rows, window, … ARGV: epoch, known, …
_JOURNAL = f"""
local known = tonumber(ARGV[2])
local count = redis.call('HLEN', KEYS[2])
local meta = redis.call('HMGET', KEYS[1], 'epoch', 'restored')
local restored = tonumber(meta[2] or 0)
if meta[1] ~= ARGV[1] or known > count then return {{'lost'}} end

local function unknown_rows()
  local rows, bytes, first = {{}}, 0, known
  while first < count and bytes < {_BYTES_AT_ONCE} do
    local ids = {{}}
    for id = first, math.min(first + 64, count) - 1 do ids[#ids + 1] = id end
    for _, row in ipairs(redis.call('HMGET', KEYS[2], unpack(ids))) do
      rows[#rows + 1] = row
      bytes = bytes + #row
    end
    first = first + #ids
  end
  return rows
end

local function unknown_tokens()
  local ids = {{}}
  for id = known, count - 1 do ids[#ids + 1] = id end
  return redis.call('HMGET', KEYS[3], unpack(ids))
end

local function append(row, tokens, ended, tombstone)
  redis.call('HSET', KEYS[2], count, row)
  redis.call('HSET', KEYS[3], count, tokens)
  redis.call('HDEL', KEYS[3], count - {WINDOW})
  if ended ~= '' then redis.call('HSET', KEYS[2], ended, tombstone) end
end
"""

GREET = Script("""
-- KEYS: meta, rows. ARGV: the header of a new index or '', its epoch, the number of a row.
if ARGV[1] ~= '' and redis.call('EXISTS', KEYS[1], KEYS[2]) == 0 then
  redis.call('HSET', KEYS[1], 'header', ARGV[1], 'epoch', ARGV[2])
end
local meta = redis.call('HMGET', KEYS[1], 'header', 'epoch')
return {meta[1], meta[2], redis.call('HLEN', KEYS[2]), redis.call('HGET', KEYS[2], ARGV[3])}
""")

READ = Script(_JOURNAL + "return {'read', unknown_rows(), restored, count}")

OFFER = Script(
    _JOURNAL
    + f"""
-- KEYS: …, claims, for each page its dependents. ARGV: for each page: how many follow, row or '' for one that is kept
-- already, tokens, number of the row that it replaces or '', that one's tombstone, URL digest of a claim or '', the
-- claim, a dependent's field or '', itself, then for each probe: least sum, tokens, weights (4 bytes each; '' for 1
-- each). A page is kept unless it meets a row that the client does not know, or a page before it in the same call; what
-- depends on it is remembered while it is claimed.
if count - known > {WINDOW} then return {{'behind', unknown_rows(), restored}} end
local told = unknown_rows()
if #told < count - known then return {{'behind', told, restored}} end

local posted = {{}}  -- under each token: the row or page that has it, or a list of them, as often as they have it
local function post(row, tokens)
  for at = 1, #tokens, 4 do
    local token = string.sub(tokens, at, at + 3)
    local rows = posted[token]
    if not rows then posted[token] = row
    elseif type(rows) == 'table' then rows[#rows + 1] = row
    else posted[token] = {{rows, row}} end
  end
end
local function meets(least, probe, weights)
  local sums = {{}}
  for at = 1, #probe, 4 do
    local rows = posted[string.sub(probe, at, at + 3)]
    if rows and least <= 1 then return true end
    if rows then
      local weight = weights == '' and 1 or struct.unpack('<I4', weights, at)
      for _, row in ipairs(type(rows) == 'table' and rows or {{rows}}) do
        local sum = (sums[row] or 0) + weight
        if sum >= least then return true end
        sums[row] = sum
      end
    end
  end
  return false
end

if known < count then
  for row, tokens in ipairs(unknown_tokens()) do
    if not tokens then return {{'behind', told, restored}} end
    post(row, tokens)
  end
end
local kept, at = {{}}, 3
while at <= #ARGV do
  local number, row, tokens = #kept + 1, ARGV[at + 1], ARGV[at + 2]
  local last, met = at + tonumber(ARGV[at]), false
  for probe = at + 9, last, 3 do
    met = met or meets(tonumber(ARGV[probe]), ARGV[probe + 1], ARGV[probe + 2])
  end
  if last < #ARGV then post(-number, tokens) end  -- of a refused one, too: none after it may overtake it
  kept[number] = met and 0 or 1
  if not met then
    local claimed = ARGV[at + 5] ~= ''
    if row == '' then
      claimed = redis.call('HEXISTS', KEYS[4], ARGV[at + 5]) == 1
    else
      append(row, tokens, ARGV[at + 3], ARGV[at + 4])
      count = count + 1
      if claimed then redis.call('HSET', KEYS[4], ARGV[at + 5], ARGV[at + 6]) end
    end
    if claimed and ARGV[at + 7] ~= '' then redis.call('HSET', KEYS[4 + number], ARGV[at + 7], ARGV[at + 8]) end
  end
  at = last + 1
end
return {{'offered', told, restored, kept}}
"""
)

FORGET = Script(
    _JOURNAL
    + """
-- KEYS: …, claims, dependents, orphans, attachments. ARGV: row or '', tokens, number of the row that it ends, that
-- one's tombstone, URL digest of a claim that ends too or '', whose claim it must be or '', '1' if attachments go.
if known < count then return {'behind', unknown_rows(), restored} end
if ARGV[8] ~= '' and string.sub(redis.call('HGET', KEYS[4], ARGV[7]) or '', 1, #ARGV[8]) ~= ARGV[8] then
  return {'other', {}, restored, {}}
end
if ARGV[3] ~= '' then append(ARGV[3], ARGV[4], ARGV[5], ARGV[6]) end
local beside = ARGV[9] == '1' and redis.call('HLEN', KEYS[7]) or 0
if beside > 0 then
  redis.call('HINCRBY', KEYS[1], 'attachments', -beside)
  redis.call('DEL', KEYS[7])
end
local orphaned = {}
if ARGV[7] ~= '' then
  local dependents = redis.call('HGETALL', KEYS[5])
  for at = 1, #dependents, 2 do
    redis.call('HSET', KEYS[6], dependents[at], dependents[at + 1])
    orphaned[#orphaned + 1] = dependents[at + 1]
  end
  redis.call('DEL', KEYS[5])
  redis.call('HDEL', KEYS[4], ARGV[7])
end
return {'done', {}, restored, orphaned}
"""
)

RESTORE = Script("""
-- KEYS: meta, rows. ARGV: epoch, number of the first row, rows.
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] or redis.call('HLEN', KEYS[2]) ~= tonumber(ARGV[2]) then return 0 end
for at = 3, #ARGV do redis.call('HSET', KEYS[2], ARGV[2] + at - 3, ARGV[at]) end
return 1
""")

# An orphan that is taken has before it a mark, the name of its taker in hexadecimal, and that of the take.
TAKEN = b"+"
TAKE_BYTES = 8
TAKEN_BYTES = len(TAKEN) + 32 + TAKE_BYTES

TAKE = Script(f"""
-- KEYS: orphans. ARGV: what the keys of claimants begin with, the taker, its take, fields of orphans.
local mark = '{TAKEN.decode()}' .. ARGV[2] .. ARGV[3]
local taken = {{}}
for at = 4, #ARGV do
  local orphan = redis.call('HGET', KEYS[1], ARGV[at])
  if orphan and string.sub(orphan, 1, 1) == '{TAKEN.decode()}' then
    local taker = string.sub(orphan, 2, 33)
    local is_free = redis.call('EXISTS', ARGV[1] .. taker) == 0 or string.sub(orphan, 1, #mark) == mark
    orphan = is_free and string.sub(orphan, {TAKEN_BYTES + 1})
  end
  if orphan then
    redis.call('HSET', KEYS[1], ARGV[at], mark .. orphan)
    taken[#taken + 1] = orphan
  end
end
return taken
""")

CHANGE = Script("""
-- KEYS: meta, for each given cell and then for each that is changed its hash. ARGV: seconds that these hashes last
-- or 0, how many cells are given, the field of each and its value or '' for none; of each that is changed its table,
-- field and value or ''. Returns the values of those given unless they are as they should be. Counts cells by table.
local first = 2 + tonumber(ARGV[2])
local there, holds = {}, true
for cell = 1, first - 2 do
  there[cell] = redis.call('HGET', KEYS[1 + cell], ARGV[1 + 2 * cell])
  holds = holds and (there[cell] or '') == ARGV[2 + 2 * cell]
end
for number = first, holds and #KEYS or 0 do
  local at = 2 * first + 3 * (number - first) - 1
  local field, value = ARGV[at + 1], ARGV[at + 2]
  local key, more = KEYS[number], nil
  if value == '' then more = -redis.call('HDEL', key, field) else more = redis.call('HSET', key, field, value) end
  if more ~= 0 then redis.call('HINCRBY', KEYS[1], ARGV[at], more) end
end
if ARGV[1] ~= '0' then
  for number = first, #KEYS do redis.call('EXPIRE', KEYS[number], ARGV[1]) end
end
return not holds and there
""")

GROUPS = Script("""
-- KEYS: hashes. ARGV: the beginning of fields. Returns fields and values of each.
local told = {}
for at, key in ipairs(KEYS) do
  told[at] = {}
  for _, field in ipairs(redis.call('HKEYS', key)) do
    if string.sub(field, 1, #ARGV[1]) == ARGV[1] then
      table.insert(told[at], field)
      table.insert(told[at], redis.call('HGET', key, field))
    end
  end
end
return told
""")

CLEAR = Script("""
-- KEYS: meta, a hash. ARGV: its table, the beginning of the fields that go.
for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
  if string.sub(field, 1, #ARGV[2]) == ARGV[2] then
    redis.call('HDEL', KEYS[2], field)
    redis.call('HINCRBY', KEYS[1], ARGV[1], -1)
  end
end
""")
