// SPDX-License-Identifier: Apache-2.0
#include "src/machines/cpu/rays/embree/scene.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#if __has_include(<embree4/rtcore.h>)
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif

#include "raydex/error.hpp"
#include "src/interface/watch.hpp"
#include "src/machines/cpu/parallel.hpp"

namespace raydex::embree {

namespace {

// Embree 3 and 4 hand a query's context to callbacks in different ways.
#if RTC_VERSION_MAJOR >= 4
using query_context = RTCRayQueryContext;
constexpr auto filters_by_query = RTC_SCENE_FLAG_FILTER_FUNCTION_IN_ARGUMENTS;
#else
using query_context = RTCIntersectContext;
constexpr auto filters_by_query = RTC_SCENE_FLAG_CONTEXT_FILTER_FUNCTION;
#endif

// One ray under way. `context` comes first, so that callbacks find the rest behind it.
struct query {
  query_context context;
  const core::axis_ray* ray;
  bool of_spheres;                      // which a ray that goes on meets twice
  void (*visit)(void*, std::uint64_t);  // null: only the closest hit counts
  void* visitor;
};
static_assert(std::is_standard_layout_v<query>);

const query& query_of(const query_context* context) {
  return *reinterpret_cast<const query*>(context);
}

// Tells the visitor of a hit and has the ray go on.
void pass_by(const RTCFilterFunctionNArguments* arguments) {
  const query& sent = query_of(arguments->context);
  arguments->valid[0] = 0;
  const float normal[] = {RTCHitN_Ng_x(arguments->hit, arguments->N, 0),
                          RTCHitN_Ng_y(arguments->hit, arguments->N, 0),
                          RTCHitN_Ng_z(arguments->hit, arguments->N, 0)};
  const bool leaves = normal[sent.ray->axis] > 0;
  if (sent.of_spheres && leaves) return;
  sent.visit(sent.visitor, RTCHitN_primID(arguments->hit, arguments->N, 0));
}

void trace(RTCScene scene, query& sent, RTCRayHit& hit) {
#if RTC_VERSION_MAJOR >= 4
  rtcInitRayQueryContext(&sent.context);
  RTCIntersectArguments arguments;
  rtcInitIntersectArguments(&arguments);
  arguments.context = &sent.context;
  if (sent.visit != nullptr) {
    arguments.filter = pass_by;
    arguments.flags = RTC_RAY_QUERY_FLAG_INVOKE_ARGUMENT_FILTER;  // for all geometries
  }
  rtcIntersect1(scene, &hit, &arguments);
#else
  rtcInitIntersectContext(&sent.context);
  if (sent.visit != nullptr) sent.context.filter = pass_by;
  rtcIntersect1(scene, &sent.context, &hit);
#endif
}

RTCRayHit start(const core::axis_ray& ray) {
  RTCRayHit hit{};
  hit.ray.org_x = ray.origin.x;
  hit.ray.org_y = ray.origin.y;
  hit.ray.org_z = ray.origin.z;
  hit.ray.dir_x = ray.axis == 0 ? 1.0F : 0.0F;
  hit.ray.dir_y = ray.axis == 1 ? 1.0F : 0.0F;
  hit.ray.dir_z = ray.axis == 2 ? 1.0F : 0.0F;
  hit.ray.tnear = ray.begin;
  hit.ray.tfar = ray.end;
  hit.ray.mask = std::numeric_limits<unsigned>::max();
  hit.hit.geomID = RTC_INVALID_GEOMETRY_ID;
  return hit;
}

// A scene holds its geometries, too, once they are attached.
struct release_geometry {
  void operator()(RTCGeometry geometry) const { rtcReleaseGeometry(geometry); }
};

[[noreturn]] void fail(const char* call, RTCError code) {
  if (code == RTC_ERROR_OUT_OF_MEMORY) throw out_of_memory(0, 0);
  if (code == RTC_ERROR_UNSUPPORTED_CPU) {
    throw unavailable("Embree cannot be used on this processor");
  }
  throw unavailable(std::string("Embree's ") + call + " failed with error " +
                    std::to_string(static_cast<int>(code)));
}

// Keys of a part as boxes, for Embree's callbacks.
struct boxes {
  const shapes* all;
  std::size_t part;

  std::uint64_t key_of(unsigned primitive) const { return all->key_of(part, primitive); }

  static void bounds(const RTCBoundsFunctionArguments* arguments) {
    const auto& self = *static_cast<const boxes*>(arguments->geometryUserPtr);
    const core::box3 box = self.all->grid.box(self.key_of(arguments->primID));
    RTCBounds& out = *arguments->bounds_o;
    out.lower_x = box.low.x;
    out.lower_y = box.low.y;
    out.lower_z = box.low.z;
    out.upper_x = box.high.x;
    out.upper_y = box.high.y;
    out.upper_z = box.high.z;
  }

  static void intersect(const RTCIntersectFunctionNArguments* arguments) {
    if (arguments->valid[0] == 0) return;
    const auto& self = *static_cast<const boxes*>(arguments->geometryUserPtr);
    const query& sent = query_of(arguments->context);
    const float along = self.all->grid.distance(*sent.ray, self.key_of(arguments->primID));
    if (along < 0) return;
    if (sent.visit != nullptr) return sent.visit(sent.visitor, arguments->primID);
    auto& hit = *reinterpret_cast<RTCRayHit*>(arguments->rayhit);
    if (along > hit.ray.tfar) return;
    hit.ray.tfar = along;
    hit.hit.primID = arguments->primID;
    hit.hit.geomID = arguments->geomID;
  }
};

}  // namespace

struct scene::state {
  RTCDevice device = nullptr;
  scene_parts made_of;
  shapes places;
  std::vector<RTCScene> parts;
  std::vector<boxes> part_boxes;
  // What scenes of triangles and spheres read as long as they live; a part has the same places in
  // both; it may leave the second empty.
  std::vector<buffer<float>> vertices;
  std::vector<buffer<std::uint32_t>> indices;

  ~state() {
    const cpu::default_floats floats;
    for (RTCScene part : parts)
      rtcReleaseScene(part);
    if (device != nullptr) rtcReleaseDevice(device);
  }

  void check(const char* call) const {
    const RTCError code = rtcGetDeviceError(device);
    if (code != RTC_ERROR_NONE) fail(call, code);
  }

  std::uint64_t size_of(std::size_t part) const {
    return made_of.begins[part + 1] - made_of.begins[part];
  }

  // Calls f with the number of each primitive of a part.
  template <class Function>
  void for_each_of(std::size_t part, const Function& f) const {
    cpu::for_blocks(size_of(part), 64, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i)
        f(i);
    });
  }

  // Memory that Embree reads past the last element, in 16-byte steps.
  static constexpr std::uint64_t padding = 4;

  // Gives a part the memory for its primitives.
  void allocate(RTCGeometry geometry, const context& on, std::size_t part) {
    const std::uint64_t size = size_of(part);
    switch (made_of.primitive) {
      case core::primitive_kind::triangle: {
        buffer<float>& corners = vertices[part] = {on, 9 * size + padding};
        buffer<std::uint32_t>& numbers = indices[part] = {on, 3 * size + padding};
        cpu::for_blocks(3 * size, 4096, [&](std::uint64_t begin, std::uint64_t end) {
          std::iota(numbers.data() + begin, numbers.data() + end,
                    static_cast<std::uint32_t>(begin));
        });
        rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                   corners.data(), 0, 3 * sizeof(float), 3 * size);
        rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                   numbers.data(), 0, 3 * sizeof(std::uint32_t), size);
        break;
      }
      case core::primitive_kind::sphere: {
        buffer<float>& centres = vertices[part] = {on, 4 * size + padding};
        rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4,
                                   centres.data(), 0, 4 * sizeof(float), size);
        break;
      }
      case core::primitive_kind::box:
        part_boxes.push_back({&places, part});
        rtcSetGeometryUserPrimitiveCount(geometry, static_cast<unsigned>(size));
        rtcSetGeometryUserData(geometry, &part_boxes.back());
        rtcSetGeometryBoundsFunction(geometry, boxes::bounds, nullptr);
        rtcSetGeometryIntersectFunction(geometry, boxes::intersect);
        break;
    }
  }

  // Puts the primitives of a part where they are; boxes are where Embree asks.
  void place(std::size_t part) {
    float* const floats = vertices[part].data();
    if (made_of.primitive == core::primitive_kind::triangle) {
      for_each_of(part, [&](std::uint64_t i) {
        core::point3 points[3];
        places.triangle(part, i, points);
        for (std::uint64_t c = 0; c < 3; ++c) {
          float* to = floats + 9 * i + 3 * c;
          to[0] = points[c].x;
          to[1] = points[c].y;
          to[2] = points[c].z;
        }
      });
    } else if (made_of.primitive == core::primitive_kind::sphere) {
      for_each_of(part, [&](std::uint64_t i) {
        const core::point3 at = places.grid.place(places.key_of(part, i));
        float* to = floats + 4 * i;
        to[0] = at.x;
        to[1] = at.y;
        to[2] = at.z;
        to[3] = core::key_grid::radius;
      });
    }
  }

  RTCGeometryType type() const {
    switch (made_of.primitive) {
      case core::primitive_kind::triangle:
        return RTC_GEOMETRY_TYPE_TRIANGLE;
      case core::primitive_kind::sphere:
        return RTC_GEOMETRY_TYPE_SPHERE_POINT;
      default:
        return RTC_GEOMETRY_TYPE_USER;
    }
  }

  void add_part(const context& on, std::size_t part) {
    RTCScene made = rtcNewScene(device);
    parts.push_back(made);
    // Robust: no ray slips through between boxes or edges.
    rtcSetSceneFlags(made, RTC_SCENE_FLAG_ROBUST | filters_by_query);
    rtcSetSceneBuildQuality(made, RTC_BUILD_QUALITY_MEDIUM);
    if (size_of(part) != 0) {
      const std::unique_ptr<RTCGeometryTy, release_geometry> held(rtcNewGeometry(device, type()));
      RTCGeometry geometry = held.get();
      allocate(geometry, on, part);
      place(part);
      rtcCommitGeometry(geometry);
      rtcAttachGeometry(made, geometry);
    }
    commit(made);
  }

  // Builds what rays are traced in. Where this thread's call is interruptible it asks while another
  // one builds, since Embree has it wait for its own.
  void commit(RTCScene made) const {
    std::atomic<bool> stopped = false;
    rtcSetSceneProgressMonitorFunction(
        made,
        [](void* flag, double /*part*/) { return !static_cast<std::atomic<bool>*>(flag)->load(); },
        &stopped);
    const auto build = [&] {
      rtcCommitScene(made);
      return rtcGetDeviceError(device);  // of the thread that calls
    };
    RTCError code = RTC_ERROR_NONE;
    if (interruptible* const work = watch::of_this_thread(); work != nullptr) {
      auto built = std::async(std::launch::async, build);
      while (built.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready)
        stopped = watch::is_to_stop(*work);
      code = built.get();
    } else {
      code = build();
    }
    rtcSetSceneProgressMonitorFunction(made, nullptr, nullptr);
    if (stopped) watch::stop();
    if (code != RTC_ERROR_NONE) fail("rtcCommitScene", code);
  }

  query ask(const core::axis_ray& ray) const {
    return {{}, &ray, made_of.primitive == core::primitive_kind::sphere, nullptr, nullptr};
  }
};

scene::scene(const context& on, memory_resource& memory, const scene_parts& parts, shapes places)
    : state_(std::make_unique<state>()) {
  const cpu::default_floats floats;
  state& s = *state_;
  s.made_of = parts;
  s.places = std::move(places);
  s.device = rtcNewDevice(nullptr);
  if (s.device == nullptr) fail("rtcNewDevice", rtcGetDeviceError(nullptr));
  const auto count = [](void* counted, ssize_t bytes, bool /*post*/) {
    static_cast<memory_resource*>(counted)->adopt(bytes);
    return true;
  };
  rtcSetDeviceMemoryMonitorFunction(s.device, count, &memory);
  const std::size_t all = parts.begins.size() - 1;
  s.vertices.resize(all);
  s.indices.resize(all);
  s.parts.reserve(all);
  s.part_boxes.reserve(all);  // callbacks keep addresses
  for (std::size_t part = 0; part < all; ++part)
    s.add_part(on, part);
}

scene::~scene() = default;

bool scene::closest(unsigned part, const core::axis_ray& ray, std::uint64_t& primitive,
                    bool& from_behind) const {
  query sent = state_->ask(ray);
  RTCRayHit hit = start(ray);
  trace(state_->parts[part], sent, hit);
  if (hit.hit.geomID == RTC_INVALID_GEOMETRY_ID) return false;
  primitive = hit.hit.primID;
  // The normal points to where corners turn counter-clockwise.
  const float normal[] = {hit.hit.Ng_x, hit.hit.Ng_y, hit.hit.Ng_z};
  from_behind = normal[ray.axis] > 0;
  return true;
}

void scene::visit(unsigned part, const core::axis_ray& ray, void (*tell)(void*, std::uint64_t),
                  void* visitor) const {
  query sent = state_->ask(ray);
  sent.visit = tell;
  sent.visitor = visitor;
  RTCRayHit hit = start(ray);
  trace(state_->parts[part], sent, hit);
}

}  // namespace raydex::embree
