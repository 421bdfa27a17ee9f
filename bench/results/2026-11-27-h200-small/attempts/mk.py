import re,subprocess
src='KERNELS/tilepipe-kernels.with_staging_unified_wide.ptx'
t=open(src).read()
def entry(t,name):
    i=t.index(name+'(')
    s=t.rfind('.entry',0,i)
    s=t.rfind('\n',0,s)+1
    e=t.find('\n}',i)+2
    return s,e
# drop other entries
def only(t,keep):
    out=t
    names=re.findall(r'\.entry (\S+)\(',t)
    for n in names:
        if n!=keep:
            s,e=entry(out,n); out=out[:s]+out[e:]
    return out
n='tilepipe_kernels$with_staging_unified_wide__i32_GroupSum_CpAsync_128_512_1'
base=only(t,n).replace(n,'k').replace('.version 7.1','.version 8.0').replace('.target sm_80','.target sm_90')
open('a.ptx','w').write(base)
b=base.replace('// %bb.0:\n','// %bb.0:\n\tmov.u32 %r4, %tid.x;\n\tshl.b32 %r5, %r4, 4;\n\tmov.b64 %rd45, tilepipe_shared;\n',1)
b=b.replace('// %bb.1:\n\tmov.u32 \t%r4, %tid.x;\n','// %bb.1:\n',1)
open('b.ptx','w').write(b)
# c: early compare without min: per-length
for f in 'ab':
    subprocess.run(['ptxas','-arch=sm_90','-o',f+'.cubin',f+'.ptx'],check=True)
# c: the first comparison depends on tid, so that it is read before
c=base.replace('	setp.le.u64 	%p1, %rd9, %rd6;','	mov.u32 %r4, %tid.x;\n	shr.u32 %r60, %r4, 12;\n	cvt.u64.u32 %rd90, %r60;\n	add.s64 %rd90, %rd90, %rd6;\n	setp.le.u64 	%p1, %rd9, %rd90;',1)
c=c.replace('// %bb.1:\n\tmov.u32 \t%r4, %tid.x;\n','// %bb.1:\n',1)
open('c.ptx','w').write(c)
# d: the first copy under a predicate, before the branch
i=base.index('	@%p1 bra 	$L__BB10_4;\n')
j=base.index('	cp.async.commit_group;\n',i)+len('	cp.async.commit_group;\n')
seg=base[i:j]
new=seg.replace('	@%p1 bra 	$L__BB10_4;\n','').replace('// %bb.1:\n','').replace('	cp.async.cg','	@!%p1 cp.async.cg')
d=base[:i]+new+'	@%p1 bra 	$L__BB10_4;\n'+base[j:]
open('d.ptx','w').write(d)
# e: d with counts of 32 bits
e=d.replace('	setp.le.u64 	%p1, %rd9, %rd6;','	cvt.u32.u64 %r60, %rd9;\n	setp.le.u32 	%p1, %r60, %r2;',1)
open('e.ptx','w').write(e)
# f: d, of one length alone
f=d.replace('	min.u64 	%rd9, %rd41, %rd40;','	mov.b64 %rd9, %rd40;')
open('f.ptx','w').write(f)
# g: one tile alone, d, and nothing after the store
i=f.index('	st.global.v4.b32'); j=f.index('\n',i)+1
k=f.index('\n}',j)
g=f[:j]+'$L__BB10_4:\n\tret;'+f[k:]
open('g.ptx','w').write(g)
for x in 'cdefg':
    subprocess.run(['ptxas','-arch=sm_90','-o',x+'.cubin',x+'.ptx'],check=True)
def endret(x):  # the first end: return at once
    return x.replace('	@%p4 bra 	$L__BB10_23;\n','	@%p4 ret;\n',1)
def endwait(x): # wait and return here
    return x.replace('	@%p4 bra 	$L__BB10_23;\n','	@!%p4 bra $L_go_on;\n	cp.async.wait_all;\n	ret;\n$L_go_on:\n',1)
def nowait(x):
    return x.replace('	cp.async.wait_all;\n	ret;','	ret;',1)
V={'h':endret(base),'i':endret(d),'j':endwait(base),'k':endwait(d),'l':endret(e),'m':nowait(d)}
for x,s in V.items():
    open(x+'.ptx','w').write(s)
    subprocess.run(['ptxas','-arch=sm_90','-o',x+'.cubin',x+'.ptx'],check=True)
