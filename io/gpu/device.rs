//! A device by wgpu.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use wgpu::util::DeviceExt;

use super::adapter::{Adapter, Adapters, DeviceFailure, Unavailable};
use super::scene::Scene;

/// Lanes of a workgroup, and cells of its run.
pub(super) const RUN: u32 = 32;

/// A GPU with the kernel compiled.
#[derive(Debug)]
pub struct Device {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) losses: wgpu::ComputePipeline,
    pub(super) servers: wgpu::ComputePipeline,
    adapter: Adapter,
    /// First failure.
    failure: Arc<Mutex<Option<String>>>,
    /// Buffers of results that no call is using.
    outputs: Mutex<Vec<Output>>,
}

/// Posts on the device.
#[derive(Debug)]
pub struct DeviceScene {
    pub(super) buffer: wgpu::Buffer,
    pub(super) rows: u32,
    pub(super) columns: u32,
    pub(super) stride: u32,
}

/// Buffers of results: on the device, and where the host reads it.
#[derive(Debug)]
pub(super) struct Output {
    octets: u64,
    pub(super) cells: wgpu::Buffer,
    pub(super) mapped: wgpu::Buffer,
}

/// Source of the kernel, with reductions by subgroups of 32 or more lanes or by the memory of workgroups.
#[must_use]
pub(super) fn kernel(has_subgroups: bool) -> String {
    let reductions = match has_subgroups {
        true => include_str!("subgroup.wgsl"),
        false => include_str!("portable.wgsl"),
    };
    [
        include_str!("profile.wgsl"),
        include_str!("formulas.wgsl"),
        include_str!("troposcatter.wgsl"),
        include_str!("servers.wgsl"),
        reductions,
    ]
    .concat()
}

/// The result of a future of a native backend, which are ready at once.
fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        std::thread::yield_now();
    }
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Device {
    /// Opens the first adapter of the kind with the most memory, a discrete one before others.
    ///
    /// # Errors
    /// The reason for having none.
    pub fn open(adapters: Adapters) -> Result<Self, Unavailable> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::VULKAN;
        descriptor.flags = wgpu::InstanceFlags::empty();
        let instance = wgpu::Instance::new(descriptor);
        let all = ready(instance.enumerate_adapters(wgpu::Backends::VULKAN));
        let rank = |adapter: &wgpu::Adapter| match adapter.get_info().device_type {
            wgpu::DeviceType::DiscreteGpu => 0,
            wgpu::DeviceType::IntegratedGpu => 1,
            wgpu::DeviceType::VirtualGpu => 2,
            wgpu::DeviceType::Other => 3,
            wgpu::DeviceType::Cpu => 4,
        };
        let adapter = all.into_iter().min_by_key(rank).ok_or(Unavailable::NoAdapter)?;
        let info = adapter.get_info();
        if info.device_type == wgpu::DeviceType::Cpu && adapters == Adapters::Gpu {
            return Err(Unavailable::Processor { name: info.name });
        }
        Self::of(&adapter, info.subgroup_min_size >= RUN)
    }

    /// Opens an adapter, with reductions by subgroups or without.
    pub(super) fn of(adapter: &wgpu::Adapter, has_subgroups: bool) -> Result<Self, Unavailable> {
        let info = adapter.get_info();
        let has_subgroups = has_subgroups && adapter.features().contains(wgpu::Features::SUBGROUP);
        let own = adapter.limits();
        let limits = wgpu::Limits {
            max_buffer_size: own.max_buffer_size,
            max_storage_buffer_binding_size: own.max_storage_buffer_binding_size,
            ..wgpu::Limits::default()
        };
        let features =
            if has_subgroups { wgpu::Features::SUBGROUP } else { wgpu::Features::empty() };
        let refused = |reason: String| Unavailable::Refused {
            name: info.name.clone(),
            reason: one_line(&reason),
        };
        let (device, queue) = ready(adapter.request_device(&wgpu::DeviceDescriptor {
            label: None,
            required_features: features,
            required_limits: limits,
            ..wgpu::DeviceDescriptor::default()
        }))
        .map_err(|error| refused(error.to_string()))?;
        let failure = Arc::new(Mutex::new(None));
        let note = |failure: &Arc<Mutex<Option<String>>>, reason: String| {
            let mut first = failure.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(one_line(&reason));
        };
        let of_errors = Arc::clone(&failure);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            note(&of_errors, error.to_string());
        }));
        let of_loss = Arc::clone(&failure);
        device.set_device_lost_callback(move |_, reason| note(&of_loss, reason));
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("profile"),
            source: wgpu::ShaderSource::Wgsl(kernel(has_subgroups).into()),
        });
        let pipeline = |entry: &str| {
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(entry),
                layout: None,
                module: &module,
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &[],
                    // Every place is written before it is read.
                    zero_initialize_workgroup_memory: false,
                },
                cache: None,
            })
        };
        let (losses, servers) = (pipeline("main"), pipeline("choose"));
        let opened = Self {
            adapter: Adapter {
                name: info.name.clone(),
                driver: one_line(&format!("{} {}", info.driver, info.driver_info)),
            },
            device,
            queue,
            losses,
            servers,
            failure,
            outputs: Mutex::default(),
        };
        opened.check().map_err(|failure| refused(failure.reason))?;
        Ok(opened)
    }

    /// The adapter.
    #[must_use]
    pub fn adapter(&self) -> &Adapter {
        &self.adapter
    }

    /// Maximum number of posts of a scene: half of what a buffer holds.
    pub(super) fn posts_max(&self) -> u64 {
        let limits = self.device.limits();
        limits.max_storage_buffer_binding_size.min(limits.max_buffer_size).min(1 << 30) / 4
    }

    pub(super) fn check(&self) -> Result<(), DeviceFailure> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        match &*failure {
            None => Ok(()),
            Some(reason) => Err(DeviceFailure { reason: reason.clone() }),
        }
    }

    pub(super) fn buffer(&self, words: &[u32], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let octets: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: &octets,
            usage,
        })
    }

    /// Copies posts to the device.
    pub(super) fn upload(&self, scene: &Scene) -> Result<Arc<DeviceScene>, DeviceFailure> {
        let uploaded = DeviceScene {
            buffer: self.buffer(&scene.words, wgpu::BufferUsages::STORAGE),
            rows: scene.window.rows,
            columns: scene.window.columns,
            stride: scene.stride,
        };
        self.check()?;
        Ok(Arc::new(uploaded))
    }

    pub(super) fn free_outputs(&self) -> MutexGuard<'_, Vec<Output>> {
        self.outputs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Buffers for so many octets; large ones are made once.
    pub(super) fn output(&self, octets: u64) -> Output {
        let mut free = self.free_outputs();
        let place = free.iter().position(|output| output.octets >= octets);
        if let Some(place) = place {
            return free.swap_remove(place);
        }
        free.pop();
        let buffer = |usage| {
            self.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: octets,
                usage,
                mapped_at_creation: false,
            })
        };
        Output {
            octets,
            cells: buffer(
                wgpu::BufferUsages::STORAGE
                    | wgpu::BufferUsages::COPY_SRC
                    | wgpu::BufferUsages::COPY_DST,
            ),
            mapped: buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST),
        }
    }
}
