//! A device by wgpu.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use groundwave_model::coverage::{KnownFlags, KnownLoss};
use wgpu::util::DeviceExt;

use super::adapter::{Adapter, Adapters, DeviceFailure, Unavailable};
use super::scene::Scene;
use super::server_tables::{ServerBlock, ServerTables};
use super::tables::Tables;

/// Octets of the loss of a cell.
const CELL_OCTETS: u64 = 16;

/// Samples of a dispatch: less than 50 ms on a small GPU, since desktops end longer ones.
const DISPATCH_SAMPLES: u64 = 30_000_000;

/// Pairs of cells and sites that one batch may leave to the exact evaluation.
const PAIRS_MAX: u64 = 1 << 22;

/// Lanes of a workgroup, and cells of its run.
const RUN: u32 = 32;

/// A GPU with the kernel compiled.
#[derive(Debug)]
pub struct Device {
    device: wgpu::Device,
    queue: wgpu::Queue,
    losses: wgpu::ComputePipeline,
    servers: wgpu::ComputePipeline,
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

/// Tables on the device.
struct DeviceTables {
    sites: wgpu::Buffer,
    rows: wgpu::Buffer,
    columns: wgpu::Buffer,
}

/// Words of octets.
fn words<const COUNT: usize>(octets: &[u8]) -> [u32; COUNT] {
    std::array::from_fn(|word| {
        u32::from_le_bytes(std::array::from_fn(|octet| octets[4 * word + octet]))
    })
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

    /// Copies tables to the device.
    fn tables(&self, tables: &Tables) -> DeviceTables {
        let storage = |words: &[u32]| self.buffer(words, wgpu::BufferUsages::STORAGE);
        DeviceTables {
            sites: storage(&tables.site_words),
            rows: storage(&tables.row_words),
            columns: storage(&tables.column_words),
        }
    }

    /// Binds buffers, in their order from 0, as a group of a pipeline.
    fn group(
        &self,
        pipeline: &wgpu::ComputePipeline,
        number: u32,
        buffers: &[(u32, &wgpu::Buffer)],
    ) -> wgpu::BindGroup {
        let entries: Vec<_> = buffers
            .iter()
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding: *binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(number),
            entries: &entries,
        })
    }

    /// Has the losses of all cells of `tables` written into `cells`, in dispatches of limited length.
    fn dispatch_losses(
        &self,
        scene: &DeviceScene,
        tables: &Tables,
        uploaded: &DeviceTables,
        cells: &wgpu::Buffer,
        wants_ground: bool,
    ) {
        let high = (DISPATCH_SAMPLES / tables.samples_a_row.max(1)).clamp(1, 65_535) as u32;
        let mut first_row = 0;
        while first_row < tables.block.rows {
            let count = high.min(tables.block.rows - first_row);
            let job = [
                tables.block.rows,
                tables.block.columns,
                scene.rows,
                scene.columns,
                scene.stride,
                first_row,
                u32::from(wants_ground),
                0,
            ];
            let job = self.buffer(&job, wgpu::BufferUsages::UNIFORM);
            let DeviceTables { sites, rows, columns } = uploaded;
            let buffers =
                [(0, &job), (1, sites), (2, rows), (3, columns), (4, &scene.buffer), (5, cells)];
            let group = self.group(&self.losses, 0, &buffers);
            let mut encoder = self.device.create_command_encoder(&Default::default());
            {
                let mut pass = encoder.begin_compute_pass(&Default::default());
                pass.set_pipeline(&self.losses);
                pass.set_bind_group(0, &group, &[]);
                pass.dispatch_workgroups(tables.columns_max.div_ceil(RUN), count, tables.sites);
            }
            self.queue.submit([encoder.finish()]);
            first_row += count;
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
        self.dispatch_losses(scene, tables, &self.tables(tables), &output.cells, false);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&output.cells, 0, &output.mapped, 0, octets);
        // Cells beyond a radius are not written: the next batch must not find those of this one.
        encoder.clear_buffer(&output.cells, 0, Some(octets));
        let submission = self.queue.submit([encoder.finish()]);
        self.read(&output.mapped, octets, submission, |read| {
            for (loss, octets) in losses.iter_mut().zip(read.chunks_exact(CELL_OCTETS as usize)) {
                let [first, second, sigma, flags] = words(octets);
                *loss = KnownLoss {
                    attenuation_db: [f32::from_bits(first), f32::from_bits(second)],
                    sigma_db: f32::from_bits(sigma),
                    flags: KnownFlags(flags),
                };
            }
        })?;
        self.free_outputs().push(output);
        Ok(())
    }

    /// Has the losses of all cells of `tables` computed, and waits.
    pub(super) fn run_only(
        &self,
        scene: &DeviceScene,
        tables: &Tables,
    ) -> Result<(), DeviceFailure> {
        let cells = u64::from(tables.block.rows) * u64::from(tables.block.columns);
        let output = self.output(cells * u64::from(tables.sites) * CELL_OCTETS);
        self.dispatch_losses(scene, tables, &self.tables(tables), &output.cells, false);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.clear_buffer(&output.cells, 0, None);
        self.queue.submit([encoder.finish()]);
        let waited = self.device.poll(wgpu::PollType::wait_indefinitely());
        waited.map_err(|error| DeviceFailure { reason: one_line(&error.to_string()) })?;
        self.check()?;
        self.free_outputs().push(output);
        Ok(())
    }

    /// Servers of all cells of `tables`.
    pub(super) fn run_servers(
        &self,
        scene: &DeviceScene,
        tables: &Tables,
        budgets: &ServerTables,
    ) -> Result<ServerBlock, DeviceFailure> {
        let Tables { sites, block, .. } = *tables;
        let cells = u64::from(block.rows) * u64::from(block.columns);
        let uploaded = self.tables(tables);
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let create = |octets: u64, usage| {
            self.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: octets,
                usage,
                mapped_at_creation: false,
            })
        };
        let output = self.output(cells * u64::from(sites) * CELL_OCTETS);
        let words_a_cell = sites.div_ceil(32);
        let pairs_max = (cells * u64::from(sites)).min(PAIRS_MAX);
        let parts = [cells * 8, cells * u64::from(words_a_cell) * 4, 8 + pairs_max * 8];
        let [best, served, pairs] = parts.map(|octets| create(octets, usage));
        if tables.columns_max > 0 {
            self.dispatch_losses(scene, tables, &uploaded, &output.cells, true);
        }
        let job = [
            block.rows,
            block.columns,
            sites,
            words_a_cell,
            pairs_max as u32,
            budgets.lattice_columns,
            budgets.lattice_spacing,
            0,
        ];
        let job = self.buffer(&job, wgpu::BufferUsages::UNIFORM);
        let own = self.buffer(&budgets.site_words, wgpu::BufferUsages::STORAGE);
        let lattice = self.buffer(&budgets.lattice_words, wgpu::BufferUsages::STORAGE);
        let geometry = self.group(&self.servers, 0, &[(2, &uploaded.rows), (3, &uploaded.columns)]);
        let buffers = [
            (0, &job),
            (1, &own),
            (2, &lattice),
            (3, &output.cells),
            (4, &best),
            (5, &served),
            (6, &pairs),
        ];
        let group = self.group(&self.servers, 1, &buffers);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&self.servers);
            pass.set_bind_group(0, &geometry, &[]);
            pass.set_bind_group(1, &group, &[]);
            pass.dispatch_workgroups(block.columns.div_ceil(64), block.rows, 1);
        }
        let octets = parts.iter().sum::<u64>();
        let mapped = create(octets, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
        let mut start = 0;
        for (buffer, octets) in [&best, &served, &pairs].into_iter().zip(parts) {
            encoder.copy_buffer_to_buffer(buffer, 0, &mapped, start, octets);
            start += octets;
        }
        encoder.clear_buffer(&output.cells, 0, None);
        let submission = self.queue.submit([encoder.finish()]);
        self.check()?;
        let mut answer = ServerBlock::default();
        let mut count = 0;
        self.read(&mapped, octets, submission, |read| {
            let (best, rest) = read.split_at(parts[0] as usize);
            let (served, pairs) = rest.split_at(parts[1] as usize);
            answer.best = best.chunks_exact(8).map(words).collect();
            answer.served = served.chunks_exact(4).map(|octets| words::<1>(octets)[0]).collect();
            let [listed, _] = words(&pairs[..8]);
            count = u64::from(listed);
            let listed = pairs[8..].chunks_exact(8).take(count as usize);
            answer.pairs = listed.map(words).collect();
        })?;
        self.free_outputs().push(output);
        if count > pairs_max {
            let reason = format!("{count} cells are not decided, allowed are {pairs_max}");
            return Err(DeviceFailure { reason });
        }
        Ok(answer)
    }

    /// Waits for a submission and reads what it copied into `mapped`.
    fn read(
        &self,
        mapped: &wgpu::Buffer,
        octets: u64,
        submission: wgpu::SubmissionIndex,
        take: impl FnOnce(&[u8]),
    ) -> Result<(), DeviceFailure> {
        let failure = |reason: String| DeviceFailure { reason: one_line(&reason) };
        self.check()?;
        let outcome = Arc::new(Mutex::new(None));
        let of_callback = Arc::clone(&outcome);
        mapped.map_async(wgpu::MapMode::Read, 0..octets, move |result| {
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
        let range = mapped.get_mapped_range(0..octets);
        take(&range.map_err(|error| failure(format!("{error:?}")))?);
        mapped.unmap();
        Ok(())
    }
}
