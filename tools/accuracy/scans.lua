-- Reads whole tables in turn, and a hundred random rows between two of them.
require("oltp_common")

function prepare_statements()
end

function event()
   scanned = ((scanned or sysbench.tid) % sysbench.opt.tables) + 1
   con:query(string.format("SELECT SUM(LENGTH(c)) FROM sbtest%d", scanned))
   for _ = 1, 100 do
      local number = sysbench.rand.uniform(1, sysbench.opt.tables)
      local id = sysbench.rand.default(1, sysbench.opt.table_size)
      con:query(string.format("SELECT c FROM sbtest%d WHERE id = %d", number, id))
   end
end
