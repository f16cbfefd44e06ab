#!/usr/sbin/dtrace -s
/*
 * zilcommit.illumos.d - sum the commits of the intent log: latency, what they wrote and where.
 *
 * Each fsync() and each write to a file opened with O_SYNC waits for a commit
 * of ZFS's intent log (ZIL), and with innodb_flush_log_at_trx_commit=1 so does
 * each transaction of MySQL. This sums, for each dataset, how long the commits
 * took, what was in them, how the data got to the disks, and whether a log
 * device (SLOG) or the pool's own disks took the log. The last lines say whether
 * a log device would help, and how large it must be.
 *
 * USAGE:	dtrace -s zilcommit.illumos.d [SECONDS [POOL]]
 *
 *		SECONDS		end after this time; without it, or 0, at Ctrl-C
 *		POOL		only this pool; without it, all
 *
 *	e.g.	dtrace -s zilcommit.illumos.d 60 tank
 *
 * FIELDS:
 *		objset		dataset: its objset id (zfs list -o objsetid,name)
 *		commits		commits that ended: fsync(), O_SYNC and the like
 *		commit_avg_ns	how long they took, on average
 *		commit_max_ns	longest
 *		itxs		changes that went into the log: writes, creates, ...
 *		copied		writes, copied into the log when they were made
 *		copied_bytes	their bytes
 *		needcopy	writes, copied into the log by the commit
 *		needcopy_bytes	their bytes
 *		indirect	writes whose records went to their place in the pool,
 *				and only a pointer to the log
 *		indirect_bytes	their bytes
 *		pool_blocks	blocks of log written to the pool's own disks
 *		pool_bytes	bytes used in them
 *		pool_avg_ns	from the write of a block to the end of the flush of
 *				the disks' caches, on average
 *		slog_blocks	blocks of log written to log devices
 *		slog_bytes	bytes used in them
 *		slog_avg_ns	as pool_avg_ns
 *		dataset		its pool and the last part of its name: tank, tank/a;
 *				tank/.../b stands for tank/a/b and deeper ones
 *
 *		Lines that begin with # are comments: the time at the start on both
 *		clocks, the column names, with SECONDS a sign of life each second.
 *		Rows come at the end, in no order, then a histogram of the commits'
 *		times for each dataset.
 *
 * OVERHEAD:	Never measured on illumos. A hash of its row at each commit, change and
 *		block of log. Measure before you trace in production.
 *
 * NOTES:	UNPROVEN: this script has never run on illumos. It is written from
 *		the sources that dscripts/probes/illumos.toml names; its text
 *		compiles on Linux, and with Linux's probe in place of that of sdt it
 *		prints there what zilcommit.d prints. What would prove it:
 *
 *		dtrace -e -s zilcommit.illumos.d
 *		dtrace -s zilcommit.illumos.d 60 POOL &  (and in a dataset of POOL)
 *		for i in $(seq 211); do dd if=/dev/zero of=f bs=4k count=1 oflag=dsync; done
 *
 *		must print 211 commits for the dataset. Needs root in the global zone.
 *
 *		Would a log device help? It takes over what pool_avg_ns is of
 *		commit_avg_ns, at its own latency. It can't help where that is
 *		little, nor with what is indirect, as with logbias=throughput.
 *
 *		How large? What a block of log takes is free again when its
 *		transaction group (txg) is on the disks, which up to 3 aren't
 *		(TXG_CONCURRENT_STATES in sys/txg.h), and is kept back for
 *		2 more (TXG_DEFER_SIZE). So it must hold 5 times the most that the
 *		blocks of one txg took. Trace through the busiest minutes.
 *
 *		With sync=disabled nothing is committed, and nothing is counted.
 *		A commit may find its changes written by another's, or by a txg:
 *		then it waits for that, and writes nothing.
 *
 *		If dtrace says "aggregation drops", rows are too low. 4 MB hold
 *		some thousand datasets, and a txg each 5 seconds for days.
 *
 * SEE ALSO:	zmysql-trace(8), zpool-iostat(8), zfs(8), dtrace(8)
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */

#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsize=4m

/* zfs_sync_type_t, itx_wr_state_t and TX_* of OpenZFS */
inline int DISABLED = 2;
inline int WR_INDIRECT = 0;
inline int WR_COPIED = 1;
inline int TX_WRITE = 9;
/* Groups whose log takes place at once; see NOTES. */
inline int TXGS = 5;

dtrace:::BEGIN
{
	start = timestamp;
	only = $$2;
	all = only == "";
	deadline = timestamp + (uint64_t)$1 * 1000000000;
	printf("# began %d, %d ns since 1970\n", timestamp, walltimestamp);
	printf("# objset commits commit_avg_ns commit_max_ns itxs copied copied_bytes needcopy needcopy_bytes indirect indirect_bytes pool_blocks pool_bytes pool_avg_ns slog_blocks slog_bytes slog_avg_ns dataset\n");
}

fbt:zfs:zil_commit:entry
/(int)((zilog_t *)arg0)->zl_sync != DISABLED &&
    (all || only == stringof(((zilog_t *)arg0)->zl_spa->spa_name))/
{
	self->zilog = arg0;
	self->began = timestamp;
}

fbt:zfs:zil_commit:return
/self->zilog/
{
	this->zilog = (zilog_t *)self->zilog;
	this->time = timestamp - self->began;
	this->pool = stringof(this->zilog->zl_spa->spa_name);
	this->ds = (struct dsl_dataset *)this->zilog->zl_os->os_dsl_dataset;
	this->objset = this->ds->ds_object;
	this->dir = (struct dsl_dir *)this->ds->ds_dir;
	this->up = (struct dsl_dir *)this->dir->dd_parent;
	this->name = this->up == 0 ? this->pool :
	    strjoin(strjoin(this->pool, this->up->dd_parent == 0 ? "/" : "/.../"),
	    stringof(this->dir->dd_myname));
	@commits[this->objset, this->name] = count();
	@commit[this->objset, this->name] = avg(this->time);
	@commit_max[this->objset, this->name] = max(this->time);
	@rate[this->name] = count();
	@histogram[this->name] = quantize(this->time / 1000);
	self->zilog = 0;
	self->began = 0;
}

/* A change that the log gets, unless its txg is on the disks already. */
sdt:zfs::zil-process-normal-itx
/((itx_t *)arg1)->itx_lr.lrc_txg > ((zilog_t *)arg0)->zl_spa->spa_ubsync.ub_txg &&
    (all || only == stringof(((zilog_t *)arg0)->zl_spa->spa_name))/
{
	this->zilog = (zilog_t *)arg0;
	this->itx = (itx_t *)arg1;
	this->pool = stringof(this->zilog->zl_spa->spa_name);
	this->ds = (struct dsl_dataset *)this->zilog->zl_os->os_dsl_dataset;
	this->objset = this->ds->ds_object;
	this->dir = (struct dsl_dir *)this->ds->ds_dir;
	this->up = (struct dsl_dir *)this->dir->dd_parent;
	this->name = this->up == 0 ? this->pool :
	    strjoin(strjoin(this->pool, this->up->dd_parent == 0 ? "/" : "/.../"),
	    stringof(this->dir->dd_myname));
	this->write = this->itx->itx_lr.lrc_txtype == TX_WRITE;
	this->state = (int)this->itx->itx_wr_state;
	this->size = this->write ? ((lr_write_t *)&this->itx->itx_lr)->lr_length : 0;
	this->indirect = this->write && this->state == WR_INDIRECT;
	this->copied = this->write && this->state == WR_COPIED;
	this->needcopy = this->write && this->state != WR_INDIRECT && this->state != WR_COPIED;
	@itxs[this->objset, this->name] = count();
	@copied[this->objset, this->name] = sum(this->copied);
	@copied_bytes[this->objset, this->name] = sum(this->copied * this->size);
	@needcopy[this->objset, this->name] = sum(this->needcopy);
	@needcopy_bytes[this->objset, this->name] = sum(this->needcopy * this->size);
	@indirect[this->objset, this->name] = sum(this->indirect);
	@indirect_bytes[this->objset, this->name] = sum(this->indirect * this->size);
}

/* A block of log is on the disk, and the disk's cache flushed. */
fbt:zfs:zil_lwb_flush_vdevs_done:entry
/all || only == stringof(((zio_t *)arg0)->io_spa->spa_name)/
{
	this->lwb = (lwb_t *)((zio_t *)arg0)->io_private;
	this->slog = (int)this->lwb->lwb_slog;
	this->used = this->lwb->lwb_nused;
	this->zilog = (zilog_t *)this->lwb->lwb_zilog;
	this->pool = stringof(((zio_t *)arg0)->io_spa->spa_name);
	this->ds = (struct dsl_dataset *)this->zilog->zl_os->os_dsl_dataset;
	this->objset = this->ds->ds_object;
	this->dir = (struct dsl_dir *)this->ds->ds_dir;
	this->up = (struct dsl_dir *)this->dir->dd_parent;
	this->name = this->up == 0 ? this->pool :
	    strjoin(strjoin(this->pool, this->up->dd_parent == 0 ? "/" : "/.../"),
	    stringof(this->dir->dd_myname));
	this->time = timestamp - (uint64_t)this->lwb->lwb_issued_timestamp;
	@log[this->pool, this->lwb->lwb_max_txg] = sum(TXGS * (uint64_t)this->lwb->lwb_sz);
}

fbt:zfs:zil_lwb_flush_vdevs_done:entry
/!this->slog && (all || only == stringof(((zio_t *)arg0)->io_spa->spa_name))/
{
	@pool_blocks[this->objset, this->name] = count();
	@pool_bytes[this->objset, this->name] = sum(this->used);
	@pool_time[this->objset, this->name] = avg(this->time);
}

fbt:zfs:zil_lwb_flush_vdevs_done:entry
/this->slog && (all || only == stringof(((zio_t *)arg0)->io_spa->spa_name))/
{
	@slog_blocks[this->objset, this->name] = count();
	@slog_bytes[this->objset, this->name] = sum(this->used);
	@slog_time[this->objset, this->name] = avg(this->time);
}

/* With SECONDS: a sign of life, at which dtrace notices that nobody reads on. */
profile:::tick-1sec
/$1/
{
	printf("# at %d\n", timestamp);
}

profile:::tick-1sec
/$1 && timestamp >= deadline/
{
	exit(0);
}

dtrace:::END
{
	printa("%d %@d %@d %@d %@d %@d %@d %@d %@d %@d %@d %@d %@d %@d %@d %@d %@d %s\n", @commits, @commit,
	    @commit_max, @itxs, @copied, @copied_bytes, @needcopy, @needcopy_bytes, @indirect, @indirect_bytes,
	    @pool_blocks, @pool_bytes, @pool_time, @slog_blocks, @slog_bytes, @slog_time);
	printa("# Time of a commit, microseconds, in %s:%@d\n", @histogram);
	this->seconds = (timestamp - start) / 1000000000;
	normalize(@rate, this->seconds ? this->seconds : 1);
	printa("# %@d commits a second in %s.\n", @rate);
	printf("# Where pool_avg_ns is most of commit_avg_ns, a log device (SLOG) of lower latency makes\n");
	printf("# commits faster, by the difference; where slog_avg_ns is, a faster log device does.\n");
	trunc(@log, 1);
	printa("# A log device for pool %s must hold 5 txgs of log; the largest, txg %d, makes that %@d bytes.\n", @log);
}
