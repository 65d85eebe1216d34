// Makes `cuda` exist in a CPU build of torch, for fake tensors: generators of the device, and nothing that computes.
#include <ATen/core/Generator.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace {

struct FakeGenerator : c10::GeneratorImpl {
  FakeGenerator()
      : GeneratorImpl({c10::kCUDA, 0}, c10::DispatchKeySet(c10::DispatchKey::CUDA)) {}
  void set_current_seed(uint64_t seed) override { seed_ = seed; }
  uint64_t current_seed() const override { return seed_; }
  uint64_t seed() override { return seed_; }
  void set_offset(uint64_t) override {}
  uint64_t get_offset() const override { return 0; }
  void set_state(const c10::TensorImpl&) override {}
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return {};  // nobody asks
  }
  FakeGenerator* clone_impl() const override { return new FakeGenerator(); }
  uint64_t seed_ = 0;
};

}  // namespace

namespace at {

struct CUDAHooks : CUDAHooksInterface {
  CUDAHooks(CUDAHooksArgs) {}
  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool isBuilt() const override { return true; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  DeviceIndex current_device() const override { return 0; }
  DeviceIndex deviceCount() const override { return 1; }
  DeviceIndex getCurrentDevice() const override { return 0; }
  const Generator& getDefaultGenerator(DeviceIndex) const override {
    static Generator generator = make_generator<FakeGenerator>();
    return generator;
  }
  Generator getNewGenerator(DeviceIndex) const override {
    return make_generator<FakeGenerator>();
  }
};

REGISTER_CUDA_HOOKS(CUDAHooks)

const Device device(kCUDA, 0);
const c10::Stream stream(c10::Stream::DEFAULT, device);

struct FakeGuard : c10::impl::NoOpDeviceGuardImpl<kCUDA> {
  Device exchangeDevice(Device) const override { return device; }
  Device getDevice() const override { return device; }
  c10::Stream getStream(Device) const noexcept override { return stream; }
  c10::Stream getDefaultStream(Device) const override { return stream; }
  c10::Stream getNewStream(Device, int) const override { return stream; }
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return stream; }
  void record(void**, const c10::Stream&, const DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
};

C10_REGISTER_GUARD_IMPL(CUDA, FakeGuard)

}  // namespace at
