local function mark(leases, number)
  local lease = redis.call('HGET', leases, number)
  if lease and not is_marked(lease) then redis.call('HSET', leases, number, '+' .. lease) end
end
