// SPDX-License-Identifier: Apache-2.0
#include "cpu/embree/scene.hpp"

#include <tbb/parallel_for.h>

#include <limits>
#include <string>
#include <utility>

#if __has_include(<embree4/rtcore.h>)
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif

#include "raydex/error.hpp"

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
  void (*visit)(void*, std::uint64_t);  // null: only the closest hit counts
  void* visitor;
};
static_assert(std::is_standard_layout_v<query>);

const query& query_of(const query_context* context) {
  return *reinterpret_cast<const query*>(context);
}

// Tells the visitor of a hit and has the ray go on.
void pass_by(const RTCFilterFunctionNArguments* arguments) {
  const query& asked = query_of(arguments->context);
  asked.visit(asked.visitor, RTCHitN_primID(arguments->hit, arguments->N, 0));
  arguments->valid[0] = 0;
}

void trace(RTCScene scene, query& asked, RTCRayHit& hit) {
#if RTC_VERSION_MAJOR >= 4
  rtcInitRayQueryContext(&asked.context);
  RTCIntersectArguments arguments;
  rtcInitIntersectArguments(&arguments);
  arguments.context = &asked.context;
  if (asked.visit != nullptr) arguments.filter = pass_by;
  rtcIntersect1(scene, &hit, &arguments);
#else
  rtcInitIntersectContext(&asked.context);
  if (asked.visit != nullptr) asked.context.filter = pass_by;
  rtcIntersect1(scene, &asked.context, &hit);
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

// Keys of a part as boxes, for Embree's callbacks.
struct boxes {
  core::key_grid grid;
  const std::function<std::uint64_t(std::uint64_t)>* key_of;
  std::uint64_t begin;

  static void bounds(const RTCBoundsFunctionArguments* arguments) {
    const auto& self = *static_cast<const boxes*>(arguments->geometryUserPtr);
    const core::box3 box = self.grid.box((*self.key_of)(self.begin + arguments->primID));
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
    const query& asked = query_of(arguments->context);
    const std::uint64_t key = (*self.key_of)(self.begin + arguments->primID);
    const float along = self.grid.distance(*asked.ray, key);
    if (along < 0) return;
    if (asked.visit != nullptr) {
      asked.visit(asked.visitor, arguments->primID);
      return;
    }
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
  std::vector<RTCScene> parts;
  std::vector<boxes> part_boxes;
  std::function<std::uint64_t(std::uint64_t)> key_of;
  // What scenes of triangles and spheres read as long as they live.
  std::vector<buffer<float>> vertices;
  std::vector<buffer<std::uint32_t>> indices;

  ~state() {
    for (RTCScene part : parts)
      rtcReleaseScene(part);
    if (device != nullptr) rtcReleaseDevice(device);
  }

  void check(const char* call) const {
    const RTCError code = rtcGetDeviceError(device);
    if (code == RTC_ERROR_NONE) return;
    if (code == RTC_ERROR_OUT_OF_MEMORY) throw out_of_memory(0, 0);
    throw unavailable(std::string("Embree's ") + call + " failed with error " +
                      std::to_string(static_cast<int>(code)));
  }

  // Memory that Embree reads past the last element, in 16-byte steps.
  static constexpr std::uint64_t padding = 4;

  void add_triangles(RTCGeometry geometry, const context& where, const core::key_grid& grid,
                     std::uint64_t begin, std::uint64_t size) {
    buffer<float>& corners = vertices.emplace_back(where, 9 * size + padding);
    buffer<std::uint32_t>& numbers = indices.emplace_back(where, 3 * size + padding);
    tbb::parallel_for(std::uint64_t{0}, size, [&](std::uint64_t i) {
      core::point3 points[3];
      grid.triangle(key_of(begin + i), points);
      for (std::uint64_t c = 0; c < 3; ++c) {
        float* to = corners.data() + 9 * i + 3 * c;
        to[0] = points[c].x;
        to[1] = points[c].y;
        to[2] = points[c].z;
        numbers.data()[3 * i + c] = static_cast<std::uint32_t>(3 * i + c);
      }
    });
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                               corners.data(), 0, 3 * sizeof(float), 3 * size);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, numbers.data(),
                               0, 3 * sizeof(std::uint32_t), size);
  }

  void add_spheres(RTCGeometry geometry, const context& where, const core::key_grid& grid,
                   std::uint64_t begin, std::uint64_t size) {
    buffer<float>& centres = vertices.emplace_back(where, 4 * size + padding);
    tbb::parallel_for(std::uint64_t{0}, size, [&](std::uint64_t i) {
      const core::point3 at = grid.place(key_of(begin + i));
      float* to = centres.data() + 4 * i;
      to[0] = at.x;
      to[1] = at.y;
      to[2] = at.z;
      to[3] = core::key_grid::radius;
    });
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4,
                               centres.data(), 0, 4 * sizeof(float), size);
  }
};

scene::scene(const context& where, tracking_resource& memory, const core::key_grid& grid,
             core::primitive_kind primitive, const std::vector<std::uint64_t>& part_begins,
             std::function<std::uint64_t(std::uint64_t)> key_of)
    : state_(std::make_unique<state>()) {
  state& s = *state_;
  s.key_of = std::move(key_of);
  s.device = rtcNewDevice(nullptr);
  if (s.device == nullptr) throw unavailable("Embree cannot be used on this processor");
  const auto count = [](void* counted, ssize_t bytes, bool /*post*/) {
    static_cast<tracking_resource*>(counted)->adopt(bytes);
    return true;
  };
  rtcSetDeviceMemoryMonitorFunction(s.device, count, &memory);
  const std::size_t parts = part_begins.size() - 1;
  s.parts.reserve(parts);
  s.part_boxes.reserve(parts);  // callbacks keep addresses
  for (std::size_t part = 0; part < parts; ++part) {
    const std::uint64_t begin = part_begins[part];
    const std::uint64_t size = part_begins[part + 1] - begin;
    RTCScene made = rtcNewScene(s.device);
    s.parts.push_back(made);
    // Robust: no ray slips through between boxes or edges.
    rtcSetSceneFlags(made, RTC_SCENE_FLAG_ROBUST | filters_by_query);
    rtcSetSceneBuildQuality(made, RTC_BUILD_QUALITY_MEDIUM);
    if (size != 0) {
      const RTCGeometryType type =
          primitive == core::primitive_kind::triangle ? RTC_GEOMETRY_TYPE_TRIANGLE
          : primitive == core::primitive_kind::sphere ? RTC_GEOMETRY_TYPE_SPHERE_POINT
                                                      : RTC_GEOMETRY_TYPE_USER;
      const std::unique_ptr<RTCGeometryTy, release_geometry> held(rtcNewGeometry(s.device, type));
      RTCGeometry geometry = held.get();
      if (type == RTC_GEOMETRY_TYPE_TRIANGLE) {
        s.add_triangles(geometry, where, grid, begin, size);
      } else if (type == RTC_GEOMETRY_TYPE_SPHERE_POINT) {
        s.add_spheres(geometry, where, grid, begin, size);
      } else {
        s.part_boxes.push_back({grid, &s.key_of, begin});
        rtcSetGeometryUserPrimitiveCount(geometry, static_cast<unsigned>(size));
        rtcSetGeometryUserData(geometry, &s.part_boxes.back());
        rtcSetGeometryBoundsFunction(geometry, boxes::bounds, nullptr);
        rtcSetGeometryIntersectFunction(geometry, boxes::intersect);
      }
      rtcCommitGeometry(geometry);
      rtcAttachGeometry(made, geometry);
    }
    rtcCommitScene(made);
    s.check("rtcCommitScene");
  }
}

scene::~scene() = default;

bool scene::closest(unsigned part, const core::axis_ray& ray, std::uint64_t& primitive) const {
  query asked{{}, &ray, nullptr, nullptr};
  RTCRayHit hit = start(ray);
  trace(state_->parts[part], asked, hit);
  primitive = hit.hit.primID;
  return hit.hit.geomID != RTC_INVALID_GEOMETRY_ID;
}

void scene::visit(unsigned part, const core::axis_ray& ray, void (*tell)(void*, std::uint64_t),
                  void* visitor) const {
  query asked{{}, &ray, tell, visitor};
  RTCRayHit hit = start(ray);
  trace(state_->parts[part], asked, hit);
}

}  // namespace raydex::embree
