-- sysbench's oltp_point_select with ten rows a statement: an emulated processor spends its time on statements, and this
-- is about the records that they read.
require("oltp_common")

function prepare_statements()
end

function event()
   local ids = {}
   for place = 1, 10 do
      ids[place] = sysbench.rand.default(1, sysbench.opt.table_size)
   end
   local number = sysbench.rand.uniform(1, sysbench.opt.tables)
   con:query(string.format("SELECT c FROM sbtest%d WHERE id IN (%s)", number, table.concat(ids, ", ")))
end
