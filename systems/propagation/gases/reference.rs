//! The mean annual global reference atmosphere (ITU-R P.835-6 §1).

/// Density of water vapour at sea level ρ0, g/m³.
const VAPOUR_G_M3: f64 = 7.5;

/// Scale height of water vapour h0, km.
const VAPOUR_SCALE_KM: f64 = 2.0;

/// Ratio of the pressures of water vapour and air above the height where vapour falls to it.
const VAPOUR_RATIO_MIN: f64 = 2e-6;

/// Temperature, K, and pressure, hPa, at a geometric height, km, -0.5 to 80 (§1.1).
pub(crate) fn temperature_and_pressure(height_km: f64) -> [f64; 2] {
    let h = 6356.766 * height_km / (6356.766 + height_km);
    // Gradient of the layer, K/km, and temperature and pressure at its base.
    let layer = |base_km: f64, gradient: f64, base_k: f64, base_hpa: f64| {
        let temperature_k = base_k + gradient * (h - base_km);
        let pressure_hpa = if gradient == 0.0 {
            base_hpa * libm::exp(-34.1632 * (h - base_km) / base_k)
        } else {
            base_hpa * libm::pow(base_k / temperature_k, 34.1632 / gradient)
        };
        [temperature_k, pressure_hpa]
    };
    match h {
        h if h <= 11.0 => layer(0.0, -6.5, 288.15, 1013.25),
        h if h <= 20.0 => layer(11.0, 0.0, 216.65, 226.3226),
        h if h <= 32.0 => layer(20.0, 1.0, 216.65, 54.749_80),
        h if h <= 47.0 => layer(32.0, 2.8, 228.65, 8.680_422),
        h if h <= 51.0 => layer(47.0, 0.0, 270.65, 1.109_106),
        h if h <= 71.0 => layer(51.0, -2.8, 270.65, 0.669_416_7),
        _ => layer(71.0, -2.0, 214.65, 0.039_566_49),
    }
}

/// Density of water vapour at a geometric height, km, in air of a temperature and a pressure, g/m³ (§1.2).
pub(crate) fn vapour_density_g_m3(height_km: f64, temperature_k: f64, pressure_hpa: f64) -> f64 {
    let density_g_m3 = VAPOUR_G_M3 * libm::exp(-height_km / VAPOUR_SCALE_KM);
    density_g_m3.max(VAPOUR_RATIO_MIN * 216.7 * pressure_hpa / temperature_k)
}
