"""HLO texts, and some maps, to begin with: small, and with every form of the notation in one or another."""

from __future__ import annotations

from typing import Final

__all__ = ["MAPS", "TEXTS"]

TEXTS: Final[tuple[str, ...]] = (
    """\
HloModule compiled, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, must-alias) }, \
entry_computation_layout={(f32[8,16]{1,0}, f32[8]{0})->(f32[8,16]{1,0}, f32[8]{0})}, num_partitions=4

FileNames
1 "/src/model.py"
2 "/src/layers \\"inner\\".py"

FunctionNames
1 "<module>"
2 "layer.<locals>.norm"

FileLocations
1 {file_name_id=1 function_name_id=1 line=53 end_line=53 column=12 end_column=17}
2 {file_name_id=2 function_name_id=2 line=7 end_line=7 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

%add.1 (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1), metadata={op_name="y"}
  ROOT %add.2 = f32[] add(%x, %y), metadata={op_name="jit(f)/reduce_sum" stack_frame_id=2}
}

%fused (param_0: f32[8,16], param_1: f32[8]) -> f32[8,16] {
  %param_0 = f32[8,16]{1,0} parameter(0)
  %param_1 = f32[8]{0} parameter(1)
  %broadcast.3 = f32[8,16]{1,0} broadcast(%param_1), dimensions={0}
  %transpose.1 = f32[16,8]{0,1} transpose(%param_0), dimensions={1,0}
  %bitcast.1 = f32[8,16]{1,0} bitcast(%transpose.1)
  ROOT %sub.1 = f32[8,16]{1,0} subtract(%bitcast.1, %broadcast.3), metadata={op_name="a{b}\\"c\\"" stack_frame_id=1}
}

ENTRY %main.9 (p0: f32[8,16], p1: f32[8]) -> (f32[8,16], f32[8]) {
  %p0 = f32[8,16]{1,0} parameter(0), sharding={devices=[2,2]<=[4]}
  %p1 = f32[8]{0} parameter(1), sharding={replicated}
  %zero = f32[] constant(0)
  %fusion = f32[8,16]{1,0} fusion(%p0, %p1), kind=kLoop, calls=%fused, \
backend_config={"outer_dimension_partitions":["2"],"note":"}"}
  %reduce.1 = f32[8]{0} reduce(%fusion, %zero), dimensions={1}, to_apply=%add.1
  ROOT %tuple = (f32[8,16]{1,0}, f32[8]{0}) tuple(%fusion, %reduce.1)
}
""",
    """\
HloModule control

body {
  state = (s32[], f32[4,3]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[4,3] get-tuple-element(state), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  zero = s32[] constant(0)
  row = f32[1,3] dynamic-slice(x, i, zero), dynamic_slice_sizes={1,3}
  twice = f32[1,3] add(row, row)
  y = f32[4,3] dynamic-update-slice(x, twice, i, zero)
  ROOT out = (s32[], f32[4,3]) tuple(next, y)
}

less {
  state = (s32[], f32[4,3]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant(4)
  ROOT lt = pred[] compare(i, n), direction=LT
}

yes { a = f32[4,3] parameter(0)
  ROOT n = f32[4,3] negate(a) }

no { a = f32[4,3] parameter(0) ROOT r = f32[4,3] reverse(a), dimensions={0,1} }

ENTRY e {
  p = (s32[], f32[4,3]) parameter(0)
  c = pred[] parameter(1)
  w = (s32[], f32[4,3]) while(p), condition=less, body=body, backend_config={"known_trip_count":{"n":"4"}}
  x = f32[4,3] get-tuple-element(w), index=1
  d = f32[4,3] conditional(c, x, x), true_computation=yes, false_computation=no
  ROOT o = f32[4,3] call(d), to_apply=yes
}
""",
    """\
HloModule collectives, replica_count=1, num_partitions=4

add { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(f32[] x, f32[] y) }

wrapped {
  p = f32[4,8]{1,0} parameter(0)
  ROOT g = f32[16,8]{1,0} all-gather(p), channel_id=1, replica_groups=[1,4]<=[4], dimensions={0}, \
use_global_device_ids=true
}, execution_thread="parallel"

ENTRY e {
  a = f32[4,8]{1,0} parameter(0)
  r = f32[4,8]{1,0} all-reduce(a), channel_id=1, replica_groups={{0,2},{1,3}}, use_global_device_ids=true, to_apply=add
  s = f32[2,8]{1,0} reduce-scatter(r), channel_id=2, replica_groups=[2,2]<=[2,2]T(1,0), dimensions={0}, to_apply=add
  v = f32[8,8]{1,0} all-gather(r), channel_id=5, replica_groups=mesh['x'=2,'y'=2] {'y'}, dimensions={0}
  p = f32[4,8]{1,0} collective-permute(r), channel_id=3, source_target_pairs={{0,1},{1,2},{2,3},{3,0}}
  start = ((f32[4,8]{1,0}), f32[16,8]{1,0}, s32[]) async-start(p), async_execution_thread="parallel", calls=wrapped
  update = ((f32[4,8]{1,0}), f32[16,8]{1,0}, s32[]) async-update(start)
  done = f32[16,8]{1,0} async-done(update)
  c = f32[4,8] custom-call(a, /*index=1*/r), custom_call_target="f\\"g", operand_layout_constraints={f32[4,8]{1,0}, \
f32[4,8]{1,0}}, output_to_operand_aliasing={{}: (0, {})}, api_version=API_VERSION_TYPED_FFI
  ROOT out = (f32[2,8], f32[16,8], f32[4,8]) tuple(s, done, c)
}
""",
    """\
HloModule shapes

ENTRY e {
  a = f32[8,128]{1,0:T(8,128)(2,1)E(16)S(5)} parameter(0) // tiled
  b = s4[3,5]{0,1:T(*,4)} parameter(1)
  c = f32[<=5,?] parameter(2)
  d = ((f32[2]{0}, s32[]), (), /* nothing */ token[], opaque[]) parameter(3)
  e0 = f32[0,3] constant({})
  f = f32[2,3] constant({ { 1, -2.5, inf }, { nan, 1e-3, /*index=5*/0 } })
  g = c64[2] constant({(1, -2), (0, inf)})
  h = s32[100] constant({...})
  i = bf16[3,4]{1,0} parameter(4)
  j = pred[2] constant({true, false})
  k = f8e4m3fn[2,2]{0,1} parameter(5)
  l = f32[8,128] copy(a)
  m = frobnicate(f32[8,128] l), knob={7,8}, level=-3, words={x,y}
  ROOT n = token[] after-all()
}
""",
    """\
p0 = f32[20,30]{1,0} parameter(0)
p1 = f32[2,3] parameter(1)
z = f32[] constant(-inf)
i0 = s32[] parameter(2)
i1 = s32[7,2] parameter(3)
b = f32[20,4,30] broadcast(p0), dimensions={0,2}
t = f32[30,20] transpose(p0), dimensions={1,0}
r = f32[4,5,30] reshape(p0)
s = f32[5,3] slice(p0), slice={[0:20:4], [5:30:10]}
c = f32[20,60] concatenate(p0, p0), dimensions={1}
v = f32[20,30] reverse(p0), dimensions={1}
q = f32[25,69] pad(p0, z), padding=2_3x-1_12_1
d = f32[5,10] dynamic-slice(p0, i0, i0), dynamic_slice_sizes={5,10}
u = f32[20,30] dynamic-update-slice(p0, d, i0, i0)
g = f32[7,2,30] gather(p0, i1), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0,1}, \
index_vector_dim=1, slice_sizes={2,30}
m = f32[20] reduce(p0, z), dimensions={1}, to_apply=max
w = f32[19,15] reduce-window(p0, z), window={size=2x2 stride=1x2 pad=0_0x0_0 rhs_dilate=1x1}, to_apply=max
x = f32[20,20] dot(p0, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,default}
k = s32[4,20] iota(), iota_dimension=1
l = pred[20,30] compare(p0, v), direction=LT
n = f32[20,30] select(l, p0, v)
o = s32[20,30] convert(p0)
ROOT y = (f32[20,30], f32[20,20]) tuple(n, x)
""",
    """\
HloModule more

max { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] maximum(x, y) }

both { a = f32[] parameter(0)
 b = s32[] parameter(1)
 c = f32[] parameter(2)
 d = s32[] parameter(3)
 p = pred[] compare(a, c), direction=GT
 x = f32[] select(p, a, c)
 y = s32[] select(p, b, d)
 ROOT t = (f32[], s32[]) tuple(x, y) }

keys { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT p = pred[] compare(a, b), direction=LT, type=TOTALORDER }

ENTRY e {
  a = f32[1,6,6,3] parameter(0)
  f = f32[2,2,3,4] parameter(1)
  z = f32[] constant(0)
  i = s32[1,6,6,3] iota(), iota_dimension=2
  n = s32[] constant(0)
  j = s32[3,1] constant({{0},{2},{5}})
  conv = f32[1,3,3,4] convolution(a, f), window={size=2x2 stride=2x2 pad=0_0x0_0 lhs_dilate=1x1 rhs_dilate=1x1 \
rhs_reversal=0x1}, dim_labels=b01f_01io->b01f, feature_group_count=1
  two = (f32[1,6,6], s32[1,6,6]) reduce(a, i, z, n), dimensions={3}, to_apply=both
  sort = f32[1,6,6,3] sort(a), dimensions={3}, is_stable=true, to_apply=keys
  row = f32[6] parameter(2)
  upd = f32[3] parameter(3)
  scatter = f32[6] scatter(row, j, upd), update_window_dims={}, inserted_window_dims={0}, \
scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=max
  get = f32[1,6,6] get-tuple-element(two), index=0
  map = f32[6] map(row, scatter), dimensions={0}, to_apply=max
  clamp = f32[6] clamp(z, map, z)
  ROOT out = (f32[1,3,3,4], f32[1,6,6], f32[6], f32[1,6,6,3]) tuple(conv, get, clamp, sort)
}
""",
)
"""Modules and a loose list of instructions."""

MAPS: Final[tuple[str, ...]] = (
    "(d0, d1)[s0]{rt0} -> (d0 floordiv 4, (d1 * 3 + s0) mod 5, rt0), domain: d0 in [0, 9], d1 in [0, 7], s0 in [0, 2], "
    "rt0 in [0, 5], d0 * 8 + d1 in [0, 50], is_simplified: false",
    "(d0)[s0] -> (d0 - s0, max(d0, 3), min(s0, -d0 ceildiv 2)), domain: d0 in [0, 63], s0 in [-1, 1], d0 mod 4 in [0, 2]",
    "(th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk_id, unroll_id] -> ((bl_x * 128 + th_x) / 15 mod 8), domain: "
    "th_x in [0, 127], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 7], bl_y in [0, 0], bl_z in [0, 0], "
    "chunk_id in [0, 0], unroll_id in [0, 3]",
    "(d0, d1) -> (d1, d0)\ndomain:\nd0 in [0, 3]\nd1 in [0, 5]",
    "() -> ()",
)
"""Maps in all spellings."""
