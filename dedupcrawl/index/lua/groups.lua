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
