; What Rust cannot say: the block's dynamic shared memory, copies between typed address spaces, and
; convergent instructions. The builder links this into every kernel crate.
;
; Clauses cited are of the PTX ISA, version 9.0.

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; The dynamic shared memory, sized by the launch. It stays external: an internal symbol would let
; alias analysis believe that nothing but the visible stores writes it, and cp.async does. There is
; no static shared memory beside it, so it starts where its alignment says.
@tilepipe_shared = external addrspace(3) global [0 x i8], align 1024

; Bytes of the collectives' scratch memory: a slot of 16 bytes for each of 32 warps, one for a
; result of the block's, and two for each of four roles, 41 in all. They are the last bytes of the
; dynamic shared memory of a kernel that uses them. The kernel's contract tells the launch so; the
; builder reads the number here.
@tilepipe_scratch_bytes = internal constant i32 656, align 4

; Zeros in global memory: the source for tiles that are filled with zeros.
@tilepipe_zeros = addrspace(1) constant [16 x i8] zeroinitializer, align 16

; Zeros in global memory: the source from which bulk copies fill what lies beyond a view, piece by
; piece.
@tilepipe_bulk_zeros = addrspace(1) constant [1024 x i8] zeroinitializer, align 128

; The device address of the host's record of a panic, 0 if there is none. The host writes it after
; loading the module.
@tilepipe_panic_record = addrspace(1) externally_initialized global i64 0, align 8

; The contract of the kernel that an entry point runs: constants, which the builder reads before
; anything is optimised and writes beside the entry point.
define void @tilepipe_contract(ptr %first, i64 %bytes) alwaysinline {
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare void @llvm.nvvm.barrier.cta.sync.all(i32)
declare void @llvm.nvvm.barrier.cta.sync.count(i32, i32)
declare i1 @llvm.nvvm.barrier.cta.red.or.count(i32, i32, i1)
declare i1 @llvm.nvvm.barrier.cta.red.and.count(i32, i32, i1)
declare i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(i32, i1)
declare i1 @llvm.nvvm.barrier.cta.red.and.aligned.all(i32, i1)
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
declare i1 @llvm.nvvm.vote.all.sync(i32, i1)
declare i32 @llvm.nvvm.prmt(i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.up.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float, float)
declare <2 x half> @llvm.nvvm.ff2f16x2.rn(float, float)
declare void @llvm.nvvm.cp.async.ca.shared.global.4.s(ptr addrspace(3), ptr addrspace(1), i32)
declare void @llvm.nvvm.cp.async.ca.shared.global.8.s(ptr addrspace(3), ptr addrspace(1), i32)
declare void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3), ptr addrspace(1), i32)
declare void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.ca.shared.global.8(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.commit.group()
declare void @llvm.nvvm.cp.async.wait.all()

define i32 @tilepipe_thread_rank() alwaysinline nounwind {
  %rank = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret i32 %rank
}

define i32 @tilepipe_block_index() alwaysinline nounwind {
  %index = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  ret i32 %index
}

define i32 @tilepipe_grid_blocks() alwaysinline nounwind {
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  ret i32 %blocks
}

; bar.sync 0 (section "Parallel Synchronization and Communication Instructions: bar, barrier").
; Convergent: all threads of the block execute this very instruction.
define void @tilepipe_barrier() alwaysinline nounwind convergent {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

; A generic pointer that later passes see through to the shared state space, so that plain loads
; become ld.shared.
define ptr @tilepipe_shared_base() alwaysinline nounwind {
  ret ptr addrspacecast (ptr addrspace(3) @tilepipe_shared to ptr)
}

; The end of the dynamic shared memory (section "Special Registers: %dynamic_smem_size").
define ptr @tilepipe_scratch_base() alwaysinline nounwind {
  %bytes = call i32 asm "mov.u32 $0, %dynamic_smem_size;", "=r"() memory(none)
  %scratch_bytes = load i32, ptr @tilepipe_scratch_bytes, align 4
  %end = sub i32 %bytes, %scratch_bytes
  ; It is a multiple of 16 already. With that known, slots side by side are one access.
  %offset = and i32 %end, -16
  %scratch = getelementptr i8, ptr addrspace(3) @tilepipe_shared, i32 %offset
  %generic = addrspacecast ptr addrspace(3) %scratch to ptr
  ret ptr %generic
}

; The address in shared memory that a generic one has there.
define i32 @tilepipe_shared_offset(ptr %generic) alwaysinline nounwind {
  %shared = addrspacecast ptr %generic to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  ret i32 %address
}

; The generic address of one in shared memory.
define ptr @tilepipe_shared_pointer(i32 %offset) alwaysinline nounwind {
  %shared = inttoptr i32 %offset to ptr addrspace(3)
  %generic = addrspacecast ptr addrspace(3) %shared to ptr
  ret ptr %generic
}

; The value of the warp's first lane, which all lanes have: the assembler then knows that it is the
; same in all of them.
define i32 @tilepipe_warp_value(i32 %value) alwaysinline nounwind {
  %result = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %value, i32 0, i32 31)
  ret i32 %result
}

; Two numbers, each rounded to the nearest of 16 bits, the first in the low half.
define i32 @tilepipe_rounded_bf16(float %low, float %high) alwaysinline nounwind {
  %both = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %high, float %low)
  %word = bitcast <2 x bfloat> %both to i32
  ret i32 %word
}

define float @tilepipe_widened_f16(i16 %bits) alwaysinline nounwind {
  %half = bitcast i16 %bits to half
  %wide = fpext half %half to float
  ret float %wide
}

define i32 @tilepipe_rounded_f16(float %low, float %high) alwaysinline nounwind {
  %both = call <2 x half> @llvm.nvvm.ff2f16x2.rn(float %high, float %low)
  %word = bitcast <2 x half> %both to i32
  ret i32 %word
}

; stmatrix of four 8 by 8 matrices. Aligned: all lanes of the warp are here (section "stmatrix").
define void @tilepipe_store_matrices(i32 %to, i32 %first, i32 %second, i32 %third, i32 %fourth) alwaysinline nounwind convergent {
  call void asm sideeffect "stmatrix.sync.aligned.m8n8.x4.shared.b16 [$0], {$1, $2, $3, $4};", "r,r,r,r,r,~{memory}"(i32 %to, i32 %first, i32 %second, i32 %third, i32 %fourth) convergent
  ret void
}

; Orders what the registers of products held before with the products to come. Products, their waits
; and what ties their registers are made by the link step, for each shape that a kernel has.
define void @tilepipe_product_fence() alwaysinline nounwind {
  call void asm sideeffect "wgmma.fence.sync.aligned;", "~{memory}"()
  ret void
}

; Closes the group of products.
define void @tilepipe_product_commit() alwaysinline nounwind {
  call void asm sideeffect "wgmma.commit_group.sync.aligned;", "~{memory}"()
  ret void
}

; The address of the dynamic shared memory in its state space. It is read by an instruction, so that
; no pass derives it from the declaration.
define i32 @tilepipe_shared_address() alwaysinline nounwind {
  %address = call i32 asm "mov.u32 $0, $1;", "=r,r"(ptr addrspace(3) @tilepipe_shared) memory(none)
  ret i32 %address
}

define ptr @tilepipe_zeros_base() alwaysinline nounwind {
  ret ptr addrspacecast (ptr addrspace(1) @tilepipe_zeros to ptr)
}

define ptr @tilepipe_bulk_zeros_base() alwaysinline nounwind {
  ret ptr addrspacecast (ptr addrspace(1) @tilepipe_bulk_zeros to ptr)
}

; bar.warp.sync of all 32 lanes (section "bar.warp.sync"). Not aligned: lanes may come from
; different places.
define void @tilepipe_warp_barrier() alwaysinline nounwind convergent {
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ret void
}

; barrier.sync 0: as above, but threads of a warp may come from different places.
define void @tilepipe_barrier_unaligned() alwaysinline nounwind convergent {
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  ret void
}

; bar.warp.sync of the lanes of %mask.
define void @tilepipe_warp_barrier_of(i32 %mask) alwaysinline nounwind convergent {
  call void @llvm.nvvm.bar.warp.sync(i32 %mask)
  ret void
}

; barrier.sync %id, %threads: a barrier of %threads threads in whole warps, which may come from
; different places.
define void @tilepipe_role_barrier(i32 %id, i32 %threads) alwaysinline nounwind convergent {
  call void @llvm.nvvm.barrier.cta.sync.count(i32 %id, i32 %threads)
  ret void
}

; barrier.red.or and .and: such a barrier that returns whether any, or every, thread passed
; something other than 0.
define i32 @tilepipe_role_barrier_any(i32 %id, i32 %threads, i32 %value) alwaysinline nounwind convergent {
  %own = icmp ne i32 %value, 0
  %any = call i1 @llvm.nvvm.barrier.cta.red.or.count(i32 %id, i32 %threads, i1 %own)
  %result = zext i1 %any to i32
  ret i32 %result
}

define i32 @tilepipe_role_barrier_all(i32 %id, i32 %threads, i32 %value) alwaysinline nounwind convergent {
  %own = icmp ne i32 %value, 0
  %all = call i1 @llvm.nvvm.barrier.cta.red.and.count(i32 %id, i32 %threads, i1 %own)
  %result = zext i1 %all to i32
  ret i32 %result
}

; Objects of eight bytes in shared memory (section "Parallel Synchronization and Communication
; Instructions: mbarrier"). All of these are instructions of one thread. The memory clobber keeps
; the thread's other accesses from moving across the instruction.
define i32 @tilepipe_shared_origin() alwaysinline nounwind {
  ret i32 ptrtoint (ptr addrspace(3) @tilepipe_shared to i32)
}

; The same, read by an instruction that stays where it is, and so in a register of this code alone.
define i32 @tilepipe_shared_origin_here() alwaysinline nounwind {
  %address = call i32 asm sideeffect "mov.u32 $0, tilepipe_shared;", "=r"()
  ret i32 %address
}

define void @tilepipe_mbarrier_init(i32 %address, i32 %arrivals) alwaysinline nounwind {
  call void asm sideeffect "mbarrier.init.shared.b64 [$0], $1;", "r,r,~{memory}"(i32 %address, i32 %arrivals)
  ret void
}

define void @tilepipe_mbarrier_inval(i32 %address) alwaysinline nounwind {
  call void asm sideeffect "mbarrier.inval.shared.b64 [$0];", "r,~{memory}"(i32 %address)
  ret void
}

; Release semantics at block scope, which is the default.
define void @tilepipe_mbarrier_arrive(i32 %address) alwaysinline nounwind {
  call void asm sideeffect "mbarrier.arrive.shared.b64 _, [$0];", "r,~{memory}"(i32 %address)
  ret void
}

; The phase in progress waits for so many bytes of bulk copies more (section "mbarrier.expect_tx
; operation"). It is no arrival.
define void @tilepipe_mbarrier_expect_tx(i32 %address, i32 %bytes) alwaysinline nounwind {
  call void asm sideeffect "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;", "r,r,~{memory}"(i32 %address, i32 %bytes)
  ret void
}

; The same, and an arrival with release semantics at block scope, in one step.
define void @tilepipe_mbarrier_arrive_expect_tx(i32 %address, i32 %bytes) alwaysinline nounwind {
  call void asm sideeffect "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}"(i32 %address, i32 %bytes)
  ret void
}

; A bulk copy by the copy engine, which counts its bytes off the phase in progress of the mbarrier
; when they have landed. (The destination's state space is that of a cluster, which contains the
; block's own: that form is the older one.)
define void @tilepipe_bulk_copy(ptr %to, ptr %from, i32 %bytes, i32 %barrier) alwaysinline nounwind {
  %shared = addrspacecast ptr %to to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  %global = addrspacecast ptr %from to ptr addrspace(1)
  call void asm sideeffect "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r,~{memory}"(i32 %address, ptr addrspace(1) %global, i32 %bytes, i32 %barrier)
  ret void
}

; A store of bytes in a row by the copy engine, in the thread's open group of bulk stores.
define void @tilepipe_bulk_store(ptr %to, ptr %from, i32 %bytes) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2;", "l,r,r,~{memory}"(ptr addrspace(1) %global, i32 %address, i32 %bytes)
  ret void
}

; A copy of a tensor's box by the copy engine, which finds it by the map in the kernel's parameters;
; tensors of one to five dimensions.
define void @tilepipe_tensor_copy_1d(ptr %to, ptr %map, i32 %column, i32 %barrier) alwaysinline nounwind {
  %shared = addrspacecast ptr %to to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$2}], [$3];", "r,l,r,r,~{memory}"(i32 %address, ptr %map, i32 %column, i32 %barrier)
  ret void
}

define void @tilepipe_tensor_copy_2d(ptr %to, ptr %map, i32 %column, i32 %row, i32 %barrier) alwaysinline nounwind {
  %shared = addrspacecast ptr %to to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3}], [$4];", "r,l,r,r,r,~{memory}"(i32 %address, ptr %map, i32 %column, i32 %row, i32 %barrier)
  ret void
}

define void @tilepipe_tensor_copy_3d(ptr %to, ptr %map, i32 %column, i32 %row, i32 %plane, i32 %barrier) alwaysinline nounwind {
  %shared = addrspacecast ptr %to to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3, $4}], [$5];", "r,l,r,r,r,r,~{memory}"(i32 %address, ptr %map, i32 %column, i32 %row, i32 %plane, i32 %barrier)
  ret void
}

define void @tilepipe_tensor_copy_4d(ptr %to, ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %barrier) alwaysinline nounwind {
  %shared = addrspacecast ptr %to to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3, $4, $5}], [$6];", "r,l,r,r,r,r,r,~{memory}"(i32 %address, ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %barrier)
  ret void
}

define void @tilepipe_tensor_copy_5d(ptr %to, ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %fifth, i32 %barrier) alwaysinline nounwind {
  %shared = addrspacecast ptr %to to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3, $4, $5, $6}], [$7];", "r,l,r,r,r,r,r,r,~{memory}"(i32 %address, ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %fifth, i32 %barrier)
  ret void
}

; A store of a tensor's box by the copy engine, in the thread's open group of bulk stores.
define void @tilepipe_tensor_store_1d(ptr %map, i32 %column, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [$0, {$1}], [$2];", "l,r,r,~{memory}"(ptr %map, i32 %column, i32 %address)
  ret void
}

define void @tilepipe_tensor_store_2d(ptr %map, i32 %column, i32 %row, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [$0, {$1, $2}], [$3];", "l,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %address)
  ret void
}

define void @tilepipe_tensor_store_3d(ptr %map, i32 %column, i32 %row, i32 %plane, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [$0, {$1, $2, $3}], [$4];", "l,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %address)
  ret void
}

define void @tilepipe_tensor_store_4d(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [$0, {$1, $2, $3, $4}], [$5];", "l,r,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %address)
  ret void
}

define void @tilepipe_tensor_store_5d(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %fifth, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [$0, {$1, $2, $3, $4, $5}], [$6];", "l,r,r,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %fifth, i32 %address)
  ret void
}

; The same, with each element of the tensor combined with that of the box, atomically.
define void @tilepipe_tensor_add_1d(ptr %map, i32 %column, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [$0, {$1}], [$2];", "l,r,r,~{memory}"(ptr %map, i32 %column, i32 %address)
  ret void
}

define void @tilepipe_tensor_add_2d(ptr %map, i32 %column, i32 %row, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [$0, {$1, $2}], [$3];", "l,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %address)
  ret void
}

define void @tilepipe_tensor_add_3d(ptr %map, i32 %column, i32 %row, i32 %plane, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group [$0, {$1, $2, $3}], [$4];", "l,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %address)
  ret void
}

define void @tilepipe_tensor_add_4d(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.tile.bulk_group [$0, {$1, $2, $3, $4}], [$5];", "l,r,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %address)
  ret void
}

define void @tilepipe_tensor_add_5d(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %fifth, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.5d.global.shared::cta.add.tile.bulk_group [$0, {$1, $2, $3, $4, $5}], [$6];", "l,r,r,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %fifth, i32 %address)
  ret void
}

define void @tilepipe_tensor_min_1d(ptr %map, i32 %column, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.1d.global.shared::cta.min.tile.bulk_group [$0, {$1}], [$2];", "l,r,r,~{memory}"(ptr %map, i32 %column, i32 %address)
  ret void
}

define void @tilepipe_tensor_min_2d(ptr %map, i32 %column, i32 %row, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.2d.global.shared::cta.min.tile.bulk_group [$0, {$1, $2}], [$3];", "l,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %address)
  ret void
}

define void @tilepipe_tensor_min_3d(ptr %map, i32 %column, i32 %row, i32 %plane, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.3d.global.shared::cta.min.tile.bulk_group [$0, {$1, $2, $3}], [$4];", "l,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %address)
  ret void
}

define void @tilepipe_tensor_min_4d(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.4d.global.shared::cta.min.tile.bulk_group [$0, {$1, $2, $3, $4}], [$5];", "l,r,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %address)
  ret void
}

define void @tilepipe_tensor_min_5d(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %fifth, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.5d.global.shared::cta.min.tile.bulk_group [$0, {$1, $2, $3, $4, $5}], [$6];", "l,r,r,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %fifth, i32 %address)
  ret void
}

define void @tilepipe_tensor_max_1d(ptr %map, i32 %column, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.1d.global.shared::cta.max.tile.bulk_group [$0, {$1}], [$2];", "l,r,r,~{memory}"(ptr %map, i32 %column, i32 %address)
  ret void
}

define void @tilepipe_tensor_max_2d(ptr %map, i32 %column, i32 %row, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.tile.bulk_group [$0, {$1, $2}], [$3];", "l,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %address)
  ret void
}

define void @tilepipe_tensor_max_3d(ptr %map, i32 %column, i32 %row, i32 %plane, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.3d.global.shared::cta.max.tile.bulk_group [$0, {$1, $2, $3}], [$4];", "l,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %address)
  ret void
}

define void @tilepipe_tensor_max_4d(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.4d.global.shared::cta.max.tile.bulk_group [$0, {$1, $2, $3, $4}], [$5];", "l,r,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %address)
  ret void
}

define void @tilepipe_tensor_max_5d(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %fifth, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.5d.global.shared::cta.max.tile.bulk_group [$0, {$1, $2, $3, $4, $5}], [$6];", "l,r,r,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %fifth, i32 %address)
  ret void
}

define void @tilepipe_tensor_and_1d(ptr %map, i32 %column, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.1d.global.shared::cta.and.tile.bulk_group [$0, {$1}], [$2];", "l,r,r,~{memory}"(ptr %map, i32 %column, i32 %address)
  ret void
}

define void @tilepipe_tensor_and_2d(ptr %map, i32 %column, i32 %row, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.2d.global.shared::cta.and.tile.bulk_group [$0, {$1, $2}], [$3];", "l,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %address)
  ret void
}

define void @tilepipe_tensor_and_3d(ptr %map, i32 %column, i32 %row, i32 %plane, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.3d.global.shared::cta.and.tile.bulk_group [$0, {$1, $2, $3}], [$4];", "l,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %address)
  ret void
}

define void @tilepipe_tensor_and_4d(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.4d.global.shared::cta.and.tile.bulk_group [$0, {$1, $2, $3, $4}], [$5];", "l,r,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %address)
  ret void
}

define void @tilepipe_tensor_and_5d(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %fifth, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.5d.global.shared::cta.and.tile.bulk_group [$0, {$1, $2, $3, $4, $5}], [$6];", "l,r,r,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %fifth, i32 %address)
  ret void
}

define void @tilepipe_tensor_or_1d(ptr %map, i32 %column, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.1d.global.shared::cta.or.tile.bulk_group [$0, {$1}], [$2];", "l,r,r,~{memory}"(ptr %map, i32 %column, i32 %address)
  ret void
}

define void @tilepipe_tensor_or_2d(ptr %map, i32 %column, i32 %row, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.2d.global.shared::cta.or.tile.bulk_group [$0, {$1, $2}], [$3];", "l,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %address)
  ret void
}

define void @tilepipe_tensor_or_3d(ptr %map, i32 %column, i32 %row, i32 %plane, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.3d.global.shared::cta.or.tile.bulk_group [$0, {$1, $2, $3}], [$4];", "l,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %address)
  ret void
}

define void @tilepipe_tensor_or_4d(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.4d.global.shared::cta.or.tile.bulk_group [$0, {$1, $2, $3, $4}], [$5];", "l,r,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %address)
  ret void
}

define void @tilepipe_tensor_or_5d(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %fifth, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.5d.global.shared::cta.or.tile.bulk_group [$0, {$1, $2, $3, $4, $5}], [$6];", "l,r,r,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %fifth, i32 %address)
  ret void
}

define void @tilepipe_tensor_xor_1d(ptr %map, i32 %column, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.1d.global.shared::cta.xor.tile.bulk_group [$0, {$1}], [$2];", "l,r,r,~{memory}"(ptr %map, i32 %column, i32 %address)
  ret void
}

define void @tilepipe_tensor_xor_2d(ptr %map, i32 %column, i32 %row, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.2d.global.shared::cta.xor.tile.bulk_group [$0, {$1, $2}], [$3];", "l,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %address)
  ret void
}

define void @tilepipe_tensor_xor_3d(ptr %map, i32 %column, i32 %row, i32 %plane, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.3d.global.shared::cta.xor.tile.bulk_group [$0, {$1, $2, $3}], [$4];", "l,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %address)
  ret void
}

define void @tilepipe_tensor_xor_4d(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.4d.global.shared::cta.xor.tile.bulk_group [$0, {$1, $2, $3, $4}], [$5];", "l,r,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %address)
  ret void
}

define void @tilepipe_tensor_xor_5d(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %fifth, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %from to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  call void asm sideeffect "cp.reduce.async.bulk.tensor.5d.global.shared::cta.xor.tile.bulk_group [$0, {$1, $2, $3, $4, $5}], [$6];", "l,r,r,r,r,r,r,~{memory}"(ptr %map, i32 %column, i32 %row, i32 %plane, i32 %fourth, i32 %fifth, i32 %address)
  ret void
}

define void @tilepipe_bulk_commit_group() alwaysinline nounwind {
  call void asm sideeffect "cp.async.bulk.commit_group;", "~{memory}"()
  ret void
}

; Waits until all bulk stores of the thread are written.
define void @tilepipe_bulk_wait_all() alwaysinline nounwind {
  call void asm sideeffect "cp.async.bulk.wait_group 0;", "~{memory}"()
  ret void
}

; Orders the thread's accesses through the generic proxy before accesses through the async proxy
; that a barrier orders after it; for shared memory alone.
define void @tilepipe_fence_proxy_async() alwaysinline nounwind {
  call void asm sideeffect "fence.proxy.async.shared::cta;", "~{memory}"()
  ret void
}

; Makes the thread's mbarrier.init visible to the copy engine.
define void @tilepipe_fence_mbarrier_init() alwaysinline nounwind {
  call void asm sideeffect "fence.mbarrier_init.release.cluster;", "~{memory}"()
  ret void
}

; Arrives when all cp.async that the thread has started before are complete; the arrival is one of
; those that init counted.
define void @tilepipe_mbarrier_arrive_times(i32 %address, i32 %count) alwaysinline nounwind {
  call void asm sideeffect "mbarrier.arrive.shared.b64 _, [$0], $1;", "r,r,~{memory}"(i32 %address, i32 %count)
  ret void
}

define void @tilepipe_cp_async_mbarrier_arrive(i32 %address) alwaysinline nounwind {
  call void asm sideeffect "cp.async.mbarrier.arrive.noinc.shared.b64 [$0];", "r,~{memory}"(i32 %address)
  ret void
}

; Waits until the phase of this parity is complete; acquire semantics at block scope, which is the
; default. The builder turns the line with this predicate into mbarrier.try_wait for sm_90 and
; newer. A label between braces is the block's own.
define void @tilepipe_mbarrier_wait(i32 %address, i32 %parity) alwaysinline nounwind {
  call void asm sideeffect "{\0A\09.reg .pred tilepipe_blocking;\0A\09tilepipe_again:\0A\09mbarrier.test_wait.parity.shared.b64 tilepipe_blocking, [$0], $1;\0A\09@!tilepipe_blocking bra tilepipe_again;\0A\09}", "r,r,~{memory}"(i32 %address, i32 %parity)
  ret void
}

; As tilepipe_mbarrier_wait, but with a suspend time hint: the thread is suspended for about 20 ns
; at a time, and then looks again.
define void @tilepipe_mbarrier_wait_briefly(i32 %address, i32 %parity) alwaysinline nounwind {
  call void asm sideeffect "{\0A\09.reg .pred complete;\0A\09tilepipe_again:\0A\09mbarrier.try_wait.parity.shared.b64 complete, [$0], $1, 20;\0A\09@!complete bra tilepipe_again;\0A\09}", "r,r,~{memory}"(i32 %address, i32 %parity)
  ret void
}

; A word in shared memory, which another thread may exchange meanwhile.
define i32 @tilepipe_word_of(ptr %generic) alwaysinline nounwind {
  %shared = addrspacecast ptr %generic to ptr addrspace(3)
  %word = call i32 asm sideeffect "atom.relaxed.cta.shared.or.b32 $0, [$1], 0;", "=r,r"(ptr addrspace(3) %shared)
  ret i32 %word
}

define void @tilepipe_exchange_word(ptr %generic, i32 %word) alwaysinline nounwind {
  %shared = addrspacecast ptr %generic to ptr addrspace(3)
  %before = call i32 asm sideeffect "atom.relaxed.cta.shared.exch.b32 $0, [$1], $2;", "=r,r,r"(ptr addrspace(3) %shared, i32 %word)
  ret void
}

; Whether the phase of this parity is complete, or is so within the time for which the GPU suspends
; a thread by itself; if so with acquire semantics.
define i32 @tilepipe_mbarrier_try_wait(i32 %address, i32 %parity) alwaysinline nounwind {
  %complete = call i32 asm sideeffect "{\0A\09.reg .pred complete;\0A\09mbarrier.try_wait.parity.shared.b64 complete, [$1], $2;\0A\09selp.b32 $0, 1, 0, complete;\0A\09}", "=r,r,r,~{memory}"(i32 %address, i32 %parity)
  ret i32 %complete
}

; Waits until the phase of this parity is complete, with acquire semantics, or until the word at the
; byte %place of the dynamic shared memory is twice the stage, the parity and one: whether it is.
; The word is read only where the phase has not come in the time for which the GPU suspends a thread
; by itself. Each thread of a warp waits for itself. One that finds its phase marked leaves when all
; that look with it have found theirs: ptxas then knows that those go on together.
define i32 @tilepipe_mbarrier_wait_unless(i32 %address, i32 %parity, i32 %place, i32 %stage) alwaysinline nounwind convergent {
  %first = call i32 asm sideeffect "{\0A\09.reg .pred complete;\0A\09mbarrier.try_wait.parity.shared.b64 complete, [$1], $2;\0A\09selp.b32 $0, 1, 0, complete;\0A\09}", "=r,r,r,~{memory}"(i32 %address, i32 %parity)
  %here = icmp ne i32 %first, 0
  br i1 %here, label %came, label %look, !prof !1001

look:
  %twice = shl i32 %stage, 1
  %both = add i32 %twice, %parity
  %mark = add i32 %both, 1
  %found = call i32 asm sideeffect "{\0A\09.reg .pred marked, all;\0A\09.reg .b32 word, place, here;\0A\09mov.b32 place, tilepipe_shared;\0A\09add.u32 place, place, $1;\0A\09atom.relaxed.cta.shared.or.b32 word, [place], 0;\0A\09setp.eq.u32 marked, word, $2;\0A\09activemask.b32 here;\0A\09vote.sync.all.pred all, marked, here;\0A\09selp.b32 $0, 1, 0, all;\0A\09}", "=r,r,r"(i32 %place, i32 %mark) convergent
  %marked = icmp ne i32 %found, 0
  br i1 %marked, label %left, label %again, !prof !1002

again:
  %next = call i32 asm sideeffect "{\0A\09.reg .pred complete;\0A\09mbarrier.try_wait.parity.shared.b64 complete, [$1], $2;\0A\09selp.b32 $0, 1, 0, complete;\0A\09}", "=r,r,r,~{memory}"(i32 %address, i32 %parity)
  %now = icmp ne i32 %next, 0
  br i1 %now, label %came, label %look

left:
  ret i32 1

came:
  ret i32 0
}

; The same in one instruction for LLVM, which peels no loop that has one in it.
define i32 @tilepipe_mbarrier_wait_unless_in_one(i32 %address, i32 %parity, i32 %place, i32 %stage) alwaysinline nounwind convergent {
  %marked = call i32 asm sideeffect "{\0A\09.reg .pred complete, marked, all;\0A\09.reg .b32 word, mark, place, here;\0A\09mov.b32 $0, 0;\0A\09mbarrier.try_wait.parity.shared.b64 complete, [$1], $2;\0A\09@complete bra tilepipe_over;\0A\09tilepipe_look:\0A\09mov.b32 place, tilepipe_shared;\0A\09add.u32 place, place, $3;\0A\09atom.relaxed.cta.shared.or.b32 word, [place], 0;\0A\09mad.lo.u32 mark, $4, 2, $2;\0A\09add.u32 mark, mark, 1;\0A\09setp.eq.u32 marked, word, mark;\0A\09activemask.b32 here;\0A\09vote.sync.all.pred all, marked, here;\0A\09selp.b32 $0, 1, 0, all;\0A\09@all bra tilepipe_over;\0A\09mbarrier.try_wait.parity.shared.b64 complete, [$1], $2;\0A\09@!complete bra tilepipe_look;\0A\09tilepipe_over:\0A\09}", "=&r,r,r,r,r,~{memory}"(i32 %address, i32 %parity, i32 %place, i32 %stage) convergent
  ret i32 %marked
}

; The same two for barriers whose addresses ptxas does not know to be the same in a warp: a vote
; says that all threads of a warp have seen the phase, and they go on together.
define i32 @tilepipe_mbarrier_wait_unless_together(i32 %address, i32 %parity, i32 %place, i32 %stage) alwaysinline nounwind convergent {
  %first = call i32 asm sideeffect "{\0A\09.reg .pred complete;\0A\09mbarrier.try_wait.parity.shared.b64 complete, [$1], $2;\0A\09selp.b32 $0, 1, 0, complete;\0A\09}", "=r,r,r,~{memory}"(i32 %address, i32 %parity)
  %here = icmp ne i32 %first, 0
  %all = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %here)
  br i1 %all, label %came, label %look, !prof !1001

look:
  %word = call i32 asm sideeffect "{\0A\09.reg .b32 place;\0A\09mov.b32 place, tilepipe_shared;\0A\09add.u32 place, place, $1;\0A\09atom.relaxed.cta.shared.or.b32 $0, [place], 0;\0A\09}", "=r,r"(i32 %place)
  %twice = shl i32 %stage, 1
  %both = add i32 %twice, %parity
  %mark = add i32 %both, 1
  %is = icmp eq i32 %word, %mark
  %any = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %is)
  br i1 %any, label %left, label %again, !prof !1002

again:
  %next = call i32 asm sideeffect "{\0A\09.reg .pred complete;\0A\09mbarrier.try_wait.parity.shared.b64 complete, [$1], $2;\0A\09selp.b32 $0, 1, 0, complete;\0A\09}", "=r,r,r,~{memory}"(i32 %address, i32 %parity)
  %now = icmp ne i32 %next, 0
  %over = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %now)
  br i1 %over, label %came, label %look

left:
  ret i32 1

came:
  ret i32 0
}

define i32 @tilepipe_mbarrier_wait_unless_together_in_one(i32 %address, i32 %parity, i32 %place, i32 %stage) alwaysinline nounwind convergent {
  %marked = call i32 asm sideeffect "{\0A\09.reg .pred complete, marked, all, first;\0A\09.reg .b32 word, mark, place, lane;\0A\09mov.b32 $0, 0;\0A\09mbarrier.try_wait.parity.shared.b64 complete, [$1], $2;\0A\09vote.sync.all.pred complete, complete, 0xffffffff;\0A\09@complete bra tilepipe_over;\0A\09tilepipe_look:\0A\09mov.u32 lane, %laneid;\0A\09setp.eq.u32 first, lane, 0;\0A\09mov.b32 word, 0;\0A\09mov.b32 place, tilepipe_shared;\0A\09add.u32 place, place, $3;\0A\09@first atom.relaxed.cta.shared.or.b32 word, [place], 0;\0A\09mad.lo.u32 mark, $4, 2, $2;\0A\09add.u32 mark, mark, 1;\0A\09setp.eq.u32 marked, word, mark;\0A\09vote.sync.any.pred all, marked, 0xffffffff;\0A\09selp.b32 $0, 1, 0, all;\0A\09@all bra tilepipe_over;\0A\09mbarrier.try_wait.parity.shared.b64 complete, [$1], $2;\0A\09vote.sync.all.pred complete, complete, 0xffffffff;\0A\09@!complete bra tilepipe_look;\0A\09tilepipe_over:\0A\09}", "=&r,r,r,r,r,~{memory}"(i32 %address, i32 %parity, i32 %place, i32 %stage) convergent
  ret i32 %marked
}

; Whether the phase of this parity is complete; if so with acquire semantics. If not, the thread
; sleeps for a moment, so that threads of its warp on another control-flow path get their turn.
; Otherwise a loop around this call might starve them forever.
define i32 @tilepipe_mbarrier_poll(i32 %address, i32 %parity) alwaysinline nounwind {
  %complete = call i32 asm sideeffect "{\0A\09.reg .pred complete;\0A\09mbarrier.test_wait.parity.shared.b64 complete, [$1], $2;\0A\09@!complete nanosleep.u32 32;\0A\09selp.b32 $0, 1, 0, complete;\0A\09}", "=r,r,r,~{memory}"(i32 %address, i32 %parity)
  ret i32 %complete
}

; %globaltimer: nanoseconds, the same clock for all threads of a device.
define i64 @tilepipe_clock() alwaysinline nounwind {
  %now = call i64 asm sideeffect "mov.u64 $0, %globaltimer;", "=l,~{memory}"()
  ret i64 %now
}

; bar.red.or and .and: a barrier of the block that returns whether any, or every, thread passed
; something other than 0.
define i32 @tilepipe_barrier_any(i32 %value) alwaysinline nounwind convergent {
  %own = icmp ne i32 %value, 0
  %any = call i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(i32 0, i1 %own)
  %result = zext i1 %any to i32
  ret i32 %result
}

define i32 @tilepipe_barrier_all(i32 %value) alwaysinline nounwind convergent {
  %own = icmp ne i32 %value, 0
  %all = call i1 @llvm.nvvm.barrier.cta.red.and.aligned.all(i32 0, i1 %own)
  %result = zext i1 %all to i32
  ret i32 %result
}

; 2 to the power of a number, approximately.
define float @tilepipe_exp2(float %x) alwaysinline nounwind {
  %power = call float asm "ex2.approx.ftz.f32 $0, $1;", "=f,f"(float %x)
  ret float %power
}

; 1 divided by a number, approximately.
define float @tilepipe_reciprocal(float %x) alwaysinline nounwind {
  %quotient = call float asm "rcp.approx.ftz.f32 $0, $1;", "=f,f"(float %x)
  ret float %quotient
}

; vote.sync.any and .all of all 32 lanes.
define i32 @tilepipe_warp_any(i32 %value) alwaysinline nounwind convergent {
  %own = icmp ne i32 %value, 0
  %any = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %own)
  %result = zext i1 %any to i32
  ret i32 %result
}

define i32 @tilepipe_warp_all(i32 %value) alwaysinline nounwind convergent {
  %own = icmp ne i32 %value, 0
  %all = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %own)
  %result = zext i1 %all to i32
  ret i32 %result
}

; prmt.b32: four of eight bytes.
define i32 @tilepipe_permute_bytes(i32 %low, i32 %high, i32 %selector) alwaysinline nounwind {
  %result = call i32 @llvm.nvvm.prmt(i32 %low, i32 %high, i32 %selector)
  ret i32 %result
}

; shfl.sync.down, .up, .bfly and .idx of one word among the lanes of %mask.
define i32 @tilepipe_shuffle_down(i32 %mask, i32 %word, i32 %distance) alwaysinline nounwind convergent {
  %result = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 %mask, i32 %word, i32 %distance, i32 31)
  ret i32 %result
}

define i32 @tilepipe_shuffle_up(i32 %mask, i32 %word, i32 %distance) alwaysinline nounwind convergent {
  %result = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 %mask, i32 %word, i32 %distance, i32 0)
  ret i32 %result
}

define i32 @tilepipe_shuffle_across(i32 %mask, i32 %word, i32 %bits) alwaysinline nounwind convergent {
  %result = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 %mask, i32 %word, i32 %bits, i32 31)
  ret i32 %result
}

define i32 @tilepipe_shuffle_from(i32 %mask, i32 %word, i32 %lane) alwaysinline nounwind convergent {
  %result = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %mask, i32 %word, i32 %lane, i32 31)
  ret i32 %result
}

; st.global and ld.global of 1, 2, 4, 8 or 16 bytes, aligned to their size. The other pointer is a
; local variable of the caller, which inlining turns into a register. (A cast to the global state
; space and back would be folded away.)
define void @tilepipe_store_global_1(ptr %to, ptr %from) alwaysinline nounwind {
  %value = load i8, ptr %from, align 1
  %global = addrspacecast ptr %to to ptr addrspace(1)
  store i8 %value, ptr addrspace(1) %global, align 1
  ret void
}

define void @tilepipe_load_global_1(ptr %to, ptr %from) alwaysinline nounwind {
  %global = addrspacecast ptr %from to ptr addrspace(1)
  %value = load i8, ptr addrspace(1) %global, align 1
  store i8 %value, ptr %to, align 1
  ret void
}

define void @tilepipe_store_global_2(ptr %to, ptr %from) alwaysinline nounwind {
  %value = load i16, ptr %from, align 2
  %global = addrspacecast ptr %to to ptr addrspace(1)
  store i16 %value, ptr addrspace(1) %global, align 2
  ret void
}

define void @tilepipe_load_global_2(ptr %to, ptr %from) alwaysinline nounwind {
  %global = addrspacecast ptr %from to ptr addrspace(1)
  %value = load i16, ptr addrspace(1) %global, align 2
  store i16 %value, ptr %to, align 2
  ret void
}

define void @tilepipe_store_global_4(ptr %to, ptr %from) alwaysinline nounwind {
  %value = load i32, ptr %from, align 4
  %global = addrspacecast ptr %to to ptr addrspace(1)
  store i32 %value, ptr addrspace(1) %global, align 4
  ret void
}

define void @tilepipe_load_global_4(ptr %to, ptr %from) alwaysinline nounwind {
  %global = addrspacecast ptr %from to ptr addrspace(1)
  %value = load i32, ptr addrspace(1) %global, align 4
  store i32 %value, ptr %to, align 4
  ret void
}

define void @tilepipe_store_global_8(ptr %to, ptr %from) alwaysinline nounwind {
  %value = load i64, ptr %from, align 8
  %global = addrspacecast ptr %to to ptr addrspace(1)
  store i64 %value, ptr addrspace(1) %global, align 8
  ret void
}

define void @tilepipe_load_global_8(ptr %to, ptr %from) alwaysinline nounwind {
  %global = addrspacecast ptr %from to ptr addrspace(1)
  %value = load i64, ptr addrspace(1) %global, align 8
  store i64 %value, ptr %to, align 8
  ret void
}

define void @tilepipe_store_global_16(ptr %to, ptr %from) alwaysinline nounwind {
  %value = load <4 x i32>, ptr %from, align 16
  %global = addrspacecast ptr %to to ptr addrspace(1)
  store <4 x i32> %value, ptr addrspace(1) %global, align 16
  ret void
}

define void @tilepipe_load_global_16(ptr %to, ptr %from) alwaysinline nounwind {
  %global = addrspacecast ptr %from to ptr addrspace(1)
  %value = load <4 x i32>, ptr addrspace(1) %global, align 16
  store <4 x i32> %value, ptr %to, align 16
  ret void
}

; ld.global.nc, likewise: of memory that nobody writes for the whole launch.
define void @tilepipe_load_input_1(ptr %to, ptr %from) alwaysinline nounwind {
  %global = addrspacecast ptr %from to ptr addrspace(1)
  %value = load i8, ptr addrspace(1) %global, align 1, !invariant.load !0
  store i8 %value, ptr %to, align 1
  ret void
}

define void @tilepipe_load_input_2(ptr %to, ptr %from) alwaysinline nounwind {
  %global = addrspacecast ptr %from to ptr addrspace(1)
  %value = load i16, ptr addrspace(1) %global, align 2, !invariant.load !0
  store i16 %value, ptr %to, align 2
  ret void
}

define void @tilepipe_load_input_4(ptr %to, ptr %from) alwaysinline nounwind {
  %global = addrspacecast ptr %from to ptr addrspace(1)
  %value = load i32, ptr addrspace(1) %global, align 4, !invariant.load !0
  store i32 %value, ptr %to, align 4
  ret void
}

define void @tilepipe_load_input_8(ptr %to, ptr %from) alwaysinline nounwind {
  %global = addrspacecast ptr %from to ptr addrspace(1)
  %value = load i64, ptr addrspace(1) %global, align 8, !invariant.load !0
  store i64 %value, ptr %to, align 8
  ret void
}

define void @tilepipe_load_input_16(ptr %to, ptr %from) alwaysinline nounwind {
  %global = addrspacecast ptr %from to ptr addrspace(1)
  %value = load <4 x i32>, ptr addrspace(1) %global, align 16, !invariant.load !0
  store <4 x i32> %value, ptr %to, align 16
  ret void
}

; As tilepipe_load_input_16, for a part of a row whose elements are used one by one: LLVM makes
; loads of those of a wide one, and they lose the mark. Nobody writes this memory during the launch,
; so the assembly reads nothing that LLVM knows to change.
define void @tilepipe_load_input_part_16(ptr %to, ptr %from) alwaysinline nounwind {
  %global = addrspacecast ptr %from to ptr addrspace(1)
  %words = call { i32, i32, i32, i32 } asm "ld.global.nc.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l"(ptr addrspace(1) %global) nounwind memory(none)
  %word.0 = extractvalue { i32, i32, i32, i32 } %words, 0
  %word.1 = extractvalue { i32, i32, i32, i32 } %words, 1
  %word.2 = extractvalue { i32, i32, i32, i32 } %words, 2
  %word.3 = extractvalue { i32, i32, i32, i32 } %words, 3
  %to.1 = getelementptr inbounds i8, ptr %to, i64 4
  %to.2 = getelementptr inbounds i8, ptr %to, i64 8
  %to.3 = getelementptr inbounds i8, ptr %to, i64 12
  store i32 %word.0, ptr %to, align 4
  store i32 %word.1, ptr %to.1, align 4
  store i32 %word.2, ptr %to.2, align 4
  store i32 %word.3, ptr %to.3, align 4
  ret void
}

; Atomic operations on global memory that have no result (section "red"), relaxed, at the scope of
; the GPU. No code of a launch reads or writes this memory in another way, so they have no effect on
; memory that LLVM knows: loads and stores move across them. They are assembly since ptxas keeps the
; result of an `atom`, which llc makes of `atomicrmw`, for sm_90: an `ATOMG` in place of a `REDG`.
; Sums of f16 have no form that flushes subnormal numbers (`.noftz` is not optional), and no
; instruction of machine code: ptxas makes a loop of them that compares and swaps 4 bytes.
define void @tilepipe_reduce_global_add_32(ptr %to, i32 %value) alwaysinline nounwind {
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "red.global.add.u32 [$0], $1;", "l,r"(ptr addrspace(1) %global, i32 %value) memory(inaccessiblemem: readwrite)
  ret void
}

define void @tilepipe_reduce_global_add_64(ptr %to, i64 %value) alwaysinline nounwind {
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "red.global.add.u64 [$0], $1;", "l,l"(ptr addrspace(1) %global, i64 %value) memory(inaccessiblemem: readwrite)
  ret void
}

define void @tilepipe_reduce_global_add_f32(ptr %to, float %value) alwaysinline nounwind {
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "red.global.add.f32 [$0], $1;", "l,f"(ptr addrspace(1) %global, float %value) memory(inaccessiblemem: readwrite)
  ret void
}

define void @tilepipe_reduce_global_add_f64(ptr %to, double %value) alwaysinline nounwind {
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "red.global.add.f64 [$0], $1;", "l,d"(ptr addrspace(1) %global, double %value) memory(inaccessiblemem: readwrite)
  ret void
}

define void @tilepipe_reduce_global_add_f16(ptr %to, i16 %bits) alwaysinline nounwind {
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "red.global.add.noftz.f16 [$0], $1;", "l,h"(ptr addrspace(1) %global, i16 %bits) memory(inaccessiblemem: readwrite)
  ret void
}

define void @tilepipe_reduce_global_min_u32(ptr %to, i32 %value) alwaysinline nounwind {
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "red.global.min.u32 [$0], $1;", "l,r"(ptr addrspace(1) %global, i32 %value) memory(inaccessiblemem: readwrite)
  ret void
}

define void @tilepipe_reduce_global_min_i32(ptr %to, i32 %value) alwaysinline nounwind {
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "red.global.min.s32 [$0], $1;", "l,r"(ptr addrspace(1) %global, i32 %value) memory(inaccessiblemem: readwrite)
  ret void
}

define void @tilepipe_reduce_global_min_u64(ptr %to, i64 %value) alwaysinline nounwind {
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "red.global.min.u64 [$0], $1;", "l,l"(ptr addrspace(1) %global, i64 %value) memory(inaccessiblemem: readwrite)
  ret void
}

define void @tilepipe_reduce_global_min_i64(ptr %to, i64 %value) alwaysinline nounwind {
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "red.global.min.s64 [$0], $1;", "l,l"(ptr addrspace(1) %global, i64 %value) memory(inaccessiblemem: readwrite)
  ret void
}

define void @tilepipe_reduce_global_max_u32(ptr %to, i32 %value) alwaysinline nounwind {
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "red.global.max.u32 [$0], $1;", "l,r"(ptr addrspace(1) %global, i32 %value) memory(inaccessiblemem: readwrite)
  ret void
}

define void @tilepipe_reduce_global_max_i32(ptr %to, i32 %value) alwaysinline nounwind {
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "red.global.max.s32 [$0], $1;", "l,r"(ptr addrspace(1) %global, i32 %value) memory(inaccessiblemem: readwrite)
  ret void
}

define void @tilepipe_reduce_global_max_u64(ptr %to, i64 %value) alwaysinline nounwind {
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "red.global.max.u64 [$0], $1;", "l,l"(ptr addrspace(1) %global, i64 %value) memory(inaccessiblemem: readwrite)
  ret void
}

define void @tilepipe_reduce_global_max_i64(ptr %to, i64 %value) alwaysinline nounwind {
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "red.global.max.s64 [$0], $1;", "l,l"(ptr addrspace(1) %global, i64 %value) memory(inaccessiblemem: readwrite)
  ret void
}

define void @tilepipe_reduce_global_and_32(ptr %to, i32 %value) alwaysinline nounwind {
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "red.global.and.b32 [$0], $1;", "l,r"(ptr addrspace(1) %global, i32 %value) memory(inaccessiblemem: readwrite)
  ret void
}

define void @tilepipe_reduce_global_and_64(ptr %to, i64 %value) alwaysinline nounwind {
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "red.global.and.b64 [$0], $1;", "l,l"(ptr addrspace(1) %global, i64 %value) memory(inaccessiblemem: readwrite)
  ret void
}

define void @tilepipe_reduce_global_or_32(ptr %to, i32 %value) alwaysinline nounwind {
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "red.global.or.b32 [$0], $1;", "l,r"(ptr addrspace(1) %global, i32 %value) memory(inaccessiblemem: readwrite)
  ret void
}

define void @tilepipe_reduce_global_or_64(ptr %to, i64 %value) alwaysinline nounwind {
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "red.global.or.b64 [$0], $1;", "l,l"(ptr addrspace(1) %global, i64 %value) memory(inaccessiblemem: readwrite)
  ret void
}

define void @tilepipe_reduce_global_xor_32(ptr %to, i32 %value) alwaysinline nounwind {
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "red.global.xor.b32 [$0], $1;", "l,r"(ptr addrspace(1) %global, i32 %value) memory(inaccessiblemem: readwrite)
  ret void
}

define void @tilepipe_reduce_global_xor_64(ptr %to, i64 %value) alwaysinline nounwind {
  %global = addrspacecast ptr %to to ptr addrspace(1)
  call void asm sideeffect "red.global.xor.b64 [$0], $1;", "l,l"(ptr addrspace(1) %global, i64 %value) memory(inaccessiblemem: readwrite)
  ret void
}

; Atomic operations on shared memory whose result nobody takes (section "atom"), relaxed, at the
; scope of the block. Other code loads and stores the same memory before and after, behind barriers.
; ptxas writes `ATOMS` without a result.
define void @tilepipe_reduce_shared_add_32(ptr %to, i32 %value) alwaysinline nounwind {
  %typed = addrspacecast ptr %to to ptr addrspace(3)
  %old = atomicrmw add ptr addrspace(3) %typed, i32 %value syncscope("block") monotonic, align 4
  ret void
}

define void @tilepipe_reduce_shared_add_64(ptr %to, i64 %value) alwaysinline nounwind {
  %typed = addrspacecast ptr %to to ptr addrspace(3)
  %old = atomicrmw add ptr addrspace(3) %typed, i64 %value syncscope("block") monotonic, align 8
  ret void
}

define void @tilepipe_reduce_shared_add_f32(ptr %to, float %value) alwaysinline nounwind {
  %typed = addrspacecast ptr %to to ptr addrspace(3)
  %old = atomicrmw fadd ptr addrspace(3) %typed, float %value syncscope("block") monotonic, align 4
  ret void
}

define void @tilepipe_reduce_shared_add_f64(ptr %to, double %value) alwaysinline nounwind {
  %typed = addrspacecast ptr %to to ptr addrspace(3)
  %old = atomicrmw fadd ptr addrspace(3) %typed, double %value syncscope("block") monotonic, align 8
  ret void
}

define void @tilepipe_reduce_shared_add_f16(ptr %to, i16 %bits) alwaysinline nounwind {
  %typed = addrspacecast ptr %to to ptr addrspace(3)
  %value = bitcast i16 %bits to half
  %old = atomicrmw fadd ptr addrspace(3) %typed, half %value syncscope("block") monotonic, align 2
  ret void
}

define void @tilepipe_reduce_shared_min_u32(ptr %to, i32 %value) alwaysinline nounwind {
  %typed = addrspacecast ptr %to to ptr addrspace(3)
  %old = atomicrmw umin ptr addrspace(3) %typed, i32 %value syncscope("block") monotonic, align 4
  ret void
}

define void @tilepipe_reduce_shared_min_i32(ptr %to, i32 %value) alwaysinline nounwind {
  %typed = addrspacecast ptr %to to ptr addrspace(3)
  %old = atomicrmw min ptr addrspace(3) %typed, i32 %value syncscope("block") monotonic, align 4
  ret void
}

define void @tilepipe_reduce_shared_min_u64(ptr %to, i64 %value) alwaysinline nounwind {
  %typed = addrspacecast ptr %to to ptr addrspace(3)
  %old = atomicrmw umin ptr addrspace(3) %typed, i64 %value syncscope("block") monotonic, align 8
  ret void
}

define void @tilepipe_reduce_shared_min_i64(ptr %to, i64 %value) alwaysinline nounwind {
  %typed = addrspacecast ptr %to to ptr addrspace(3)
  %old = atomicrmw min ptr addrspace(3) %typed, i64 %value syncscope("block") monotonic, align 8
  ret void
}

define void @tilepipe_reduce_shared_max_u32(ptr %to, i32 %value) alwaysinline nounwind {
  %typed = addrspacecast ptr %to to ptr addrspace(3)
  %old = atomicrmw umax ptr addrspace(3) %typed, i32 %value syncscope("block") monotonic, align 4
  ret void
}

define void @tilepipe_reduce_shared_max_i32(ptr %to, i32 %value) alwaysinline nounwind {
  %typed = addrspacecast ptr %to to ptr addrspace(3)
  %old = atomicrmw max ptr addrspace(3) %typed, i32 %value syncscope("block") monotonic, align 4
  ret void
}

define void @tilepipe_reduce_shared_max_u64(ptr %to, i64 %value) alwaysinline nounwind {
  %typed = addrspacecast ptr %to to ptr addrspace(3)
  %old = atomicrmw umax ptr addrspace(3) %typed, i64 %value syncscope("block") monotonic, align 8
  ret void
}

define void @tilepipe_reduce_shared_max_i64(ptr %to, i64 %value) alwaysinline nounwind {
  %typed = addrspacecast ptr %to to ptr addrspace(3)
  %old = atomicrmw max ptr addrspace(3) %typed, i64 %value syncscope("block") monotonic, align 8
  ret void
}

define void @tilepipe_reduce_shared_and_32(ptr %to, i32 %value) alwaysinline nounwind {
  %typed = addrspacecast ptr %to to ptr addrspace(3)
  %old = atomicrmw and ptr addrspace(3) %typed, i32 %value syncscope("block") monotonic, align 4
  ret void
}

define void @tilepipe_reduce_shared_and_64(ptr %to, i64 %value) alwaysinline nounwind {
  %typed = addrspacecast ptr %to to ptr addrspace(3)
  %old = atomicrmw and ptr addrspace(3) %typed, i64 %value syncscope("block") monotonic, align 8
  ret void
}

define void @tilepipe_reduce_shared_or_32(ptr %to, i32 %value) alwaysinline nounwind {
  %typed = addrspacecast ptr %to to ptr addrspace(3)
  %old = atomicrmw or ptr addrspace(3) %typed, i32 %value syncscope("block") monotonic, align 4
  ret void
}

define void @tilepipe_reduce_shared_or_64(ptr %to, i64 %value) alwaysinline nounwind {
  %typed = addrspacecast ptr %to to ptr addrspace(3)
  %old = atomicrmw or ptr addrspace(3) %typed, i64 %value syncscope("block") monotonic, align 8
  ret void
}

define void @tilepipe_reduce_shared_xor_32(ptr %to, i32 %value) alwaysinline nounwind {
  %typed = addrspacecast ptr %to to ptr addrspace(3)
  %old = atomicrmw xor ptr addrspace(3) %typed, i32 %value syncscope("block") monotonic, align 4
  ret void
}

define void @tilepipe_reduce_shared_xor_64(ptr %to, i64 %value) alwaysinline nounwind {
  %typed = addrspacecast ptr %to to ptr addrspace(3)
  %old = atomicrmw xor ptr addrspace(3) %typed, i64 %value syncscope("block") monotonic, align 8
  ret void
}

; cp.async with a source size: the first %valid bytes are read, the rest of the destination's 4, 8
; or 16 is zero.
define void @tilepipe_cp_async_4(ptr %to, ptr %from, i32 %valid) alwaysinline nounwind {
  %shared = addrspacecast ptr %to to ptr addrspace(3)
  %global = addrspacecast ptr %from to ptr addrspace(1)
  call void @llvm.nvvm.cp.async.ca.shared.global.4.s(ptr addrspace(3) %shared, ptr addrspace(1) %global, i32 %valid)
  ret void
}

define void @tilepipe_cp_async_8(ptr %to, ptr %from, i32 %valid) alwaysinline nounwind {
  %shared = addrspacecast ptr %to to ptr addrspace(3)
  %global = addrspacecast ptr %from to ptr addrspace(1)
  call void @llvm.nvvm.cp.async.ca.shared.global.8.s(ptr addrspace(3) %shared, ptr addrspace(1) %global, i32 %valid)
  ret void
}

define void @tilepipe_cp_async_16(ptr %to, ptr %from, i32 %valid) alwaysinline nounwind {
  %shared = addrspacecast ptr %to to ptr addrspace(3)
  %global = addrspacecast ptr %from to ptr addrspace(1)
  call void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3) %shared, ptr addrspace(1) %global, i32 %valid)
  ret void
}

; cp.async of all of its 4, 8 or 16 bytes.
define void @tilepipe_cp_async_whole_4(ptr %to, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %to to ptr addrspace(3)
  %global = addrspacecast ptr %from to ptr addrspace(1)
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %shared, ptr addrspace(1) %global)
  ret void
}

define void @tilepipe_cp_async_whole_8(ptr %to, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %to to ptr addrspace(3)
  %global = addrspacecast ptr %from to ptr addrspace(1)
  call void @llvm.nvvm.cp.async.ca.shared.global.8(ptr addrspace(3) %shared, ptr addrspace(1) %global)
  ret void
}

define void @tilepipe_cp_async_whole_16(ptr %to, ptr %from) alwaysinline nounwind {
  %shared = addrspacecast ptr %to to ptr addrspace(3)
  %global = addrspacecast ptr %from to ptr addrspace(1)
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %shared, ptr addrspace(1) %global)
  ret void
}

define void @tilepipe_cp_async_commit_group() alwaysinline nounwind {
  call void @llvm.nvvm.cp.async.commit.group()
  ret void
}

define i64 @tilepipe_opaque(i64 %number) alwaysinline nounwind {
  %same = call i64 asm "", "=l,0"(i64 %number) nounwind willreturn memory(none)
  ret i64 %same
}

define i64 @tilepipe_opaque_here(i64 %number) alwaysinline nounwind {
  %same = call i64 asm sideeffect "", "=l,0"(i64 %number) nounwind
  ret i64 %same
}

define i32 @tilepipe_rank_here(i32 %rank) alwaysinline nounwind {
  %same = call i32 asm sideeffect "", "=r,0"(i32 %rank) nounwind
  ret i32 %same
}

define void @tilepipe_cp_async_wait_all() alwaysinline nounwind {
  call void @llvm.nvvm.cp.async.wait.all()
  ret void
}

define i64 @tilepipe_panic_record_address() alwaysinline nounwind {
  %address = load volatile i64, ptr addrspace(1) @tilepipe_panic_record, align 8
  ret i64 %address
}

; Floating-point instructions of one thread: fma.rn, sqrt.rn, min, max, and cvt.rmi, .rzi and .rni
; to an integer. LLVM's minimumnum and maximumnum are what PTX's min and max do: an operand that
; is NaN is ignored, and -0 is less than +0.
declare float @llvm.fma.f32(float, float, float)
declare float @llvm.sqrt.f32(float)
declare float @llvm.minimumnum.f32(float, float)
declare float @llvm.maximumnum.f32(float, float)
declare float @llvm.floor.f32(float)
declare float @llvm.trunc.f32(float)
declare float @llvm.roundeven.f32(float)
declare double @llvm.fma.f64(double, double, double)
declare double @llvm.sqrt.f64(double)
declare double @llvm.minimumnum.f64(double, double)
declare double @llvm.maximumnum.f64(double, double)
declare double @llvm.floor.f64(double)
declare double @llvm.trunc.f64(double)
declare double @llvm.roundeven.f64(double)

define float @tilepipe_fma_f32(float %a, float %b, float %c) alwaysinline nounwind {
  %sum = call float @llvm.fma.f32(float %a, float %b, float %c)
  ret float %sum
}

define float @tilepipe_sqrt_f32(float %x) alwaysinline nounwind {
  %root = call float @llvm.sqrt.f32(float %x)
  ret float %root
}

define float @tilepipe_min_f32(float %a, float %b) alwaysinline nounwind {
  %lesser = call float @llvm.minimumnum.f32(float %a, float %b)
  ret float %lesser
}

define float @tilepipe_max_f32(float %a, float %b) alwaysinline nounwind {
  %greater = call float @llvm.maximumnum.f32(float %a, float %b)
  ret float %greater
}

define float @tilepipe_floor_f32(float %x) alwaysinline nounwind {
  %whole = call float @llvm.floor.f32(float %x)
  ret float %whole
}

define float @tilepipe_trunc_f32(float %x) alwaysinline nounwind {
  %whole = call float @llvm.trunc.f32(float %x)
  ret float %whole
}

define float @tilepipe_nearest_f32(float %x) alwaysinline nounwind {
  %whole = call float @llvm.roundeven.f32(float %x)
  ret float %whole
}

define double @tilepipe_fma_f64(double %a, double %b, double %c) alwaysinline nounwind {
  %sum = call double @llvm.fma.f64(double %a, double %b, double %c)
  ret double %sum
}

define double @tilepipe_sqrt_f64(double %x) alwaysinline nounwind {
  %root = call double @llvm.sqrt.f64(double %x)
  ret double %root
}

define double @tilepipe_min_f64(double %a, double %b) alwaysinline nounwind {
  %lesser = call double @llvm.minimumnum.f64(double %a, double %b)
  ret double %lesser
}

define double @tilepipe_max_f64(double %a, double %b) alwaysinline nounwind {
  %greater = call double @llvm.maximumnum.f64(double %a, double %b)
  ret double %greater
}

define double @tilepipe_floor_f64(double %x) alwaysinline nounwind {
  %whole = call double @llvm.floor.f64(double %x)
  ret double %whole
}

define double @tilepipe_trunc_f64(double %x) alwaysinline nounwind {
  %whole = call double @llvm.trunc.f64(double %x)
  ret double %whole
}

define double @tilepipe_nearest_f64(double %x) alwaysinline nounwind {
  %whole = call double @llvm.roundeven.f64(double %x)
  ret double %whole
}

!0 = !{}
!1001 = !{!"branch_weights", i32 1000000, i32 1}
!1002 = !{!"branch_weights", i32 1, i32 1000000}
