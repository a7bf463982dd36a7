//! A device by wgpu.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use groundwave_model::coverage::{KnownFlags, KnownLoss};
use wgpu::util::DeviceExt;

use super::adapter::{Adapter, Adapters, DeviceFailure, Unavailable};
use super::scene::Scene;
use super::tables::Tables;

/// Octets of the loss of a cell.
const CELL_OCTETS: u64 = 16;

/// Samples of a dispatch: less than 50 ms on a small GPU, since desktops end longer ones.
const DISPATCH_SAMPLES: u64 = 60_000_000;

/// Lanes of a workgroup, and cells of its run.
const RUN: u32 = 32;

/// A GPU with the kernel compiled.
#[derive(Debug)]
pub struct Device {
    device: wgpu::Device,
    queue: wgpu::Queue,
    pipeline: wgpu::ComputePipeline,
    adapter: Adapter,
    /// First failure.
    failure: Arc<Mutex<Option<String>>>,
    /// Buffers of results that no call is using.
    outputs: Mutex<Vec<Output>>,
}

/// Posts on the device.
#[derive(Debug)]
pub struct DeviceScene {
    buffer: wgpu::Buffer,
    rows: u32,
    columns: u32,
    stride: u32,
}

/// Buffers of results: on the device, and where the host reads it.
#[derive(Debug)]
struct Output {
    octets: u64,
    cells: wgpu::Buffer,
    mapped: wgpu::Buffer,
}

/// Source of the kernel, with reductions by subgroups of 32 or more lanes or by the memory of workgroups.
#[must_use]
pub(super) fn kernel(has_subgroups: bool) -> String {
    let reductions = match has_subgroups {
        true => include_str!("subgroup.wgsl"),
        false => include_str!("portable.wgsl"),
    };
    [include_str!("profile.wgsl"), include_str!("formulas.wgsl"), reductions].concat()
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

fn one_line(text: &str) -> String {
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
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("losses"),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &[],
                // Every place is written before it is read.
                zero_initialize_workgroup_memory: false,
            },
            cache: None,
        });
        let opened = Self {
            adapter: Adapter {
                name: info.name.clone(),
                driver: one_line(&format!("{} {}", info.driver, info.driver_info)),
            },
            device,
            queue,
            pipeline,
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

    fn check(&self) -> Result<(), DeviceFailure> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        match &*failure {
            None => Ok(()),
            Some(reason) => Err(DeviceFailure { reason: reason.clone() }),
        }
    }

    fn buffer(&self, words: &[u32], usage: wgpu::BufferUsages) -> wgpu::Buffer {
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

    fn free_outputs(&self) -> MutexGuard<'_, Vec<Output>> {
        self.outputs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Buffers for so many octets; large ones are made once.
    fn output(&self, octets: u64) -> Output {
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

    /// Fills the losses of all cells of `tables`, site by site and row by row.
    pub(super) fn run(
        &self,
        scene: &DeviceScene,
        tables: &Tables,
        losses: &mut [KnownLoss],
    ) -> Result<(), DeviceFailure> {
        losses.fill(KnownLoss::default());
        if tables.columns_max == 0 || losses.is_empty() {
            return Ok(());
        }
        let octets = losses.len() as u64 * CELL_OCTETS;
        let output = self.output(octets);
        let storage = |words: &[u32]| self.buffer(words, wgpu::BufferUsages::STORAGE);
        let [sites, rows, columns] = [&tables.site_words, &tables.row_words, &tables.column_words]
            .map(|words| storage(words));
        let high = (DISPATCH_SAMPLES / tables.samples_a_row.max(1)).clamp(1, 65_535) as u32;
        let mut first_row = 0;
        while first_row < tables.block.rows {
            let count = high.min(tables.block.rows - first_row);
            let job = self.buffer(
                &[
                    tables.block.rows,
                    tables.block.columns,
                    scene.rows,
                    scene.columns,
                    scene.stride,
                    first_row,
                    0,
                    0,
                ],
                wgpu::BufferUsages::UNIFORM,
            );
            let buffers = [&job, &sites, &rows, &columns, &scene.buffer, &output.cells];
            let entries: Vec<_> = (0..)
                .zip(buffers)
                .map(|(binding, buffer)| wgpu::BindGroupEntry {
                    binding,
                    resource: buffer.as_entire_binding(),
                })
                .collect();
            let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &self.pipeline.get_bind_group_layout(0),
                entries: &entries,
            });
            let mut encoder = self.device.create_command_encoder(&Default::default());
            {
                let mut pass = encoder.begin_compute_pass(&Default::default());
                pass.set_pipeline(&self.pipeline);
                pass.set_bind_group(0, &group, &[]);
                pass.dispatch_workgroups(tables.columns_max.div_ceil(RUN), count, tables.sites);
            }
            self.queue.submit([encoder.finish()]);
            first_row += count;
        }
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&output.cells, 0, &output.mapped, 0, octets);
        // Cells beyond a radius are not written: the next batch must not find those of this one.
        encoder.clear_buffer(&output.cells, 0, Some(octets));
        let submission = self.queue.submit([encoder.finish()]);
        self.check()?;
        self.read(&output, octets, submission, losses)?;
        self.free_outputs().push(output);
        Ok(())
    }

    fn read(
        &self,
        output: &Output,
        octets: u64,
        submission: wgpu::SubmissionIndex,
        losses: &mut [KnownLoss],
    ) -> Result<(), DeviceFailure> {
        let failure = |reason: String| DeviceFailure { reason: one_line(&reason) };
        let outcome = Arc::new(Mutex::new(None));
        let of_callback = Arc::clone(&outcome);
        output.mapped.map_async(wgpu::MapMode::Read, 0..octets, move |result| {
            *of_callback.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        });
        let wait = wgpu::PollType::Wait { submission_index: Some(submission), timeout: None };
        self.device.poll(wait).map_err(|error| failure(error.to_string()))?;
        self.check()?;
        let result = outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
        match result {
            Some(Ok(())) => {}
            Some(Err(error)) => return Err(failure(error.to_string())),
            None => return Err(failure("no result".to_owned())),
        }
        let range = output.mapped.get_mapped_range(0..octets);
        let range = range.map_err(|error| failure(format!("{error:?}")))?;
        for (loss, octets) in losses.iter_mut().zip(range.chunks_exact(CELL_OCTETS as usize)) {
            let word = |place: usize| {
                u32::from_le_bytes(std::array::from_fn(|octet| octets[4 * place + octet]))
            };
            *loss = KnownLoss {
                attenuation_db: [f32::from_bits(word(0)), f32::from_bits(word(1))],
                sigma_db: f32::from_bits(word(2)),
                flags: KnownFlags(word(3)),
            };
        }
        drop(range);
        output.mapped.unmap();
        Ok(())
    }
}
