-- KEYS: …, leases, lessees, for each page the skips of its premise. ARGV: for each page: how many follow, row or '' for
-- one that is kept already, tokens, number of the row that it replaces or '', that one's tombstone, key of its premise
-- or '', the lease, a skip's field or '', itself, then for each probe: least sum, tokens, weights (4 bytes each; '' for
-- 1 each). A page is kept unless it meets a row that the client does not know, or a page before it in the same call; a
-- skip is remembered while its premise is open.
if count - known > WINDOW then return {'behind', unknown_rows(), restored} end
local told = unknown_rows()
if #told < count - known then return {'behind', told, restored} end

local posted = {}  -- under each token: the row or page that has it, or a list of them, as often as they have it
local function post(row, tokens)
  for at = 1, #tokens, 4 do
    local token = string.sub(tokens, at, at + 3)
    local rows = posted[token]
    if not rows then posted[token] = row
    elseif type(rows) == 'table' then rows[#rows + 1] = row
    else posted[token] = {rows, row} end
  end
end
local function meets(least, probe, weights)
  local sums = {}
  for at = 1, #probe, 4 do
    local rows = posted[string.sub(probe, at, at + 3)]
    if rows and least <= 1 then return true end
    if rows then
      local weight = weights == '' and 1 or struct.unpack('<I4', weights, at)
      for _, row in ipairs(type(rows) == 'table' and rows or {rows}) do
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
    if not tokens then return {'behind', told, restored} end
    post(row, tokens)
  end
end
local kept, at = {}, 3
while at <= #ARGV do
  local number, row, tokens = #kept + 1, ARGV[at + 1], ARGV[at + 2]
  local last, met = at + tonumber(ARGV[at]), false
  for probe = at + 9, last, 3 do
    met = met or meets(tonumber(ARGV[probe]), ARGV[probe + 1], ARGV[probe + 2])
  end
  if last < #ARGV then post(-number, tokens) end  -- of a refused one, too: none after it may overtake it
  kept[number] = met and 0 or 1
  if not met then
    local is_open = ARGV[at + 5] ~= ''
    if row == '' then
      is_open = redis.call('HEXISTS', KEYS[4], ARGV[at + 5]) == 1
    else
      append(row, tokens, ARGV[at + 3], ARGV[at + 4])
      count = count + 1
      if is_open then
        redis.call('HSET', KEYS[4], ARGV[at + 5], ARGV[at + 6])
        redis.call('SADD', KEYS[5], string.sub(ARGV[at + 6], 1, 16))  -- who may have been taken for dead
      end
    end
    if is_open and ARGV[at + 7] ~= '' then redis.call('HSET', KEYS[5 + number], ARGV[at + 7], ARGV[at + 8]) end
  end
  at = last + 1
end
return {'offered', told, restored, kept}
