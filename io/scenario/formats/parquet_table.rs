//! Tables of results in Apache Parquet.

use std::io;
use std::sync::Arc;

use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::parquet::{column, failed, properties};

/// Values of a column, one a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Texts.
    Text(Vec<String>),
    /// Whole numbers.
    Whole(Vec<i64>),
    /// Numbers, absent where there is none.
    Number(Vec<Option<f64>>),
}

/// The file of a table of columns with their names. One table has one sequence of octets.
///
/// # Errors
/// Columns of different lengths.
pub fn parquet_table(name: &str, columns: Vec<(String, Column)>) -> io::Result<Vec<u8>> {
    write(name, columns).map_err(failed)
}

fn write(name: &str, columns: Vec<(String, Column)>) -> Result<Vec<u8>, ParquetError> {
    let fields: Result<Vec<_>, ParquetError> = columns
        .iter()
        .map(|(name, column)| {
            let (physical, repetition) = match column {
                Column::Text(_) => (Physical::BYTE_ARRAY, Repetition::REQUIRED),
                Column::Whole(_) => (Physical::INT64, Repetition::REQUIRED),
                Column::Number(_) => (Physical::DOUBLE, Repetition::OPTIONAL),
            };
            let builder = Type::primitive_type_builder(name, physical).with_repetition(repetition);
            let field = match column {
                Column::Text(_) => builder.with_converted_type(ConvertedType::UTF8).build(),
                _ => builder.build(),
            };
            field.map(Arc::new)
        })
        .collect();
    let schema = Type::group_type_builder(name).with_fields(fields?).build()?;
    let mut file = Vec::new();
    let mut out = SerializedFileWriter::new(&mut file, Arc::new(schema), properties().into())?;
    let mut group = out.next_row_group()?;
    for (_, values) in columns {
        match values {
            Column::Text(texts) => {
                let octets = |text: String| Some(ByteArray::from(text.into_bytes()));
                column::<ByteArrayType, _>(
                    &mut group,
                    texts.into_iter().map(octets).collect(),
                    true,
                )?;
            }
            Column::Whole(numbers) => {
                column::<Int64Type, _>(&mut group, numbers.into_iter().map(Some).collect(), true)?;
            }
            Column::Number(numbers) => column::<DoubleType, _>(&mut group, numbers, false)?,
        }
    }
    group.close()?;
    out.close()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;

    #[test]
    fn table_reads_back_with_names_and_types() {
        let columns = || {
            vec![
                ("node.mast.height_agl_m".to_owned(), Column::Text(vec!["4".into(), "30".into()])),
                ("seed".to_owned(), Column::Whole(vec![1, 2])),
                ("mean".to_owned(), Column::Number(vec![Some(0.5), None])),
            ]
        };
        let file = parquet_table("runs", columns()).unwrap();
        assert_eq!(file, parquet_table("runs", columns()).unwrap());
        let reader = SerializedFileReader::new(bytes::Bytes::from(file)).unwrap();
        let rows: Vec<String> =
            reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        let first = "{node.mast.height_agl_m: \"4\", seed: 1, mean: 0.5}";
        assert_eq!(rows[0], first);
        assert!(rows[1].contains("seed: 2, mean: null"), "{}", rows[1]);
        let uneven = vec![
            ("a".to_owned(), Column::Whole(vec![1])),
            ("b".to_owned(), Column::Whole(vec![1, 2])),
        ];
        assert!(parquet_table("uneven", uneven).is_err());
    }
}
