//! Dispatches of a device, and what they give back.

use std::sync::{Arc, Mutex, PoisonError};

use groundwave_model::coverage::{KnownFlags, KnownLoss};

use super::adapter::DeviceFailure;
use super::device::{Device, DeviceScene, RUN, one_line};
use super::server_tables::{ServerBlock, ServerTables};
use super::tables::Tables;

/// Octets of the loss of a cell.
const CELL_OCTETS: u64 = 16;

/// Samples of a dispatch: less than 50 ms on a small GPU, since desktops end longer ones.
const DISPATCH_SAMPLES: u64 = 30_000_000;

/// Pairs of cells and sites that one batch may leave to the exact evaluation.
const PAIRS_MAX: u64 = 1 << 22;

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

impl Device {
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
