//! Scale, offset and unit of the heights, from GDAL's description of the band (tag 42112).

/// GDAL's description of the first band.
pub(super) struct Band {
    pub scale: f64,
    pub offset: f64,
    /// Unit of the samples, scaled.
    pub unit_type: Option<String>,
}

impl Default for Band {
    fn default() -> Self {
        Self { scale: 1.0, offset: 0.0, unit_type: None }
    }
}

impl Band {
    /// Reads the text of the tag.
    ///
    /// # Errors
    /// The text at fault: a guess would scale heights wrongly.
    pub fn of_xml(xml: &str) -> Result<Self, String> {
        use quick_xml::events::Event;
        let mut band = Self::default();
        let mut reader = quick_xml::Reader::from_str(xml);
        let mut role = String::new();
        loop {
            match reader.read_event() {
                Ok(Event::Start(item)) => {
                    let attribute = |name: &str| {
                        let mut all = item.attributes().flatten();
                        let attribute = all.find(|attribute| attribute.key.as_ref() == name)?;
                        Some(attribute.value.into_owned())
                    };
                    let is_first = attribute("sample").is_none_or(|band| band == "0");
                    role = attribute("role").filter(|_| is_first).unwrap_or_default();
                }
                Ok(Event::Text(value)) => {
                    let value = value.trim();
                    let number = || value.parse().map_err(|_| format!("{role} {value:?}"));
                    match role.as_str() {
                        "scale" => band.scale = number()?,
                        "offset" => band.offset = number()?,
                        "unittype" => band.unit_type = Some(value.to_owned()),
                        _ => {}
                    }
                }
                Ok(Event::End(_)) => role.clear(),
                Ok(Event::Eof) => return Ok(band),
                Err(error) => return Err(error.to_string()),
                Ok(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn description_of_the_band_is_numbers_or_an_error_with_the_text() {
        let item = |role: &str, value: &str| {
            format!(
                "<GDALMetadata><Item name=\"X\" sample=\"0\" role=\"{role}\">{value}</Item></GDALMetadata>"
            )
        };
        let band = Band::of_xml(&item("scale", " 0.1 ")).unwrap();
        assert_eq!((band.scale, band.offset, band.unit_type), (0.1, 0.0, None));
        assert_eq!(Band::of_xml(&item("offset", "-5")).unwrap().offset, -5.0);
        assert_eq!(Band::of_xml(&item("unittype", "ft")).unwrap().unit_type.unwrap(), "ft");
        assert_eq!(Band::of_xml(&item("scale", "0,1")).err().unwrap(), "scale \"0,1\"");
        assert_eq!(Band::of_xml(&item("offset", "none")).err().unwrap(), "offset \"none\"");
        assert!(Band::of_xml("<GDALMetadata><Item></GDALMetadata>").is_err());
        assert_eq!(Band::of_xml("").unwrap().scale, 1.0);
    }
}
