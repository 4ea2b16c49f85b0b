//! Units of measurement, as far as calculations convert between them.

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unit {
    quantity: Quantity,
    /// What one of it is in the quantity's first unit, and where its zero lies there.
    scale: f64,
    zero: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Length,
    Time,
    Temperature,
    Mass,
}

const fn unit(quantity: Quantity, scale: f64, zero: f64) -> Unit {
    Unit { quantity, scale, zero }
}

/// All names of units, in the singular.
const UNITS: [(&str, Unit); 38] = {
    use Quantity::{Length, Mass, Temperature, Time};
    const MILE: Unit = unit(Length, 1609.344, 0.0);
    const KILOMETRE: Unit = unit(Length, 1000.0, 0.0);
    const METRE: Unit = unit(Length, 1.0, 0.0);
    const CENTIMETRE: Unit = unit(Length, 0.01, 0.0);
    const FOOT: Unit = unit(Length, 0.3048, 0.0);
    const INCH: Unit = unit(Length, 0.0254, 0.0);
    const SECOND: Unit = unit(Time, 1.0, 0.0);
    const MINUTE: Unit = unit(Time, 60.0, 0.0);
    const HOUR: Unit = unit(Time, 3600.0, 0.0);
    const CELSIUS: Unit = unit(Temperature, 1.0, 273.15);
    const FAHRENHEIT: Unit = unit(Temperature, 5.0 / 9.0, 459.67 * 5.0 / 9.0);
    const KELVIN: Unit = unit(Temperature, 1.0, 0.0);
    [
        ("mile", MILE),
        ("mi", MILE),
        ("kilometre", KILOMETRE),
        ("kilometer", KILOMETRE),
        ("km", KILOMETRE),
        ("metre", METRE),
        ("meter", METRE),
        ("m", METRE),
        ("centimetre", CENTIMETRE),
        ("centimeter", CENTIMETRE),
        ("cm", CENTIMETRE),
        ("foot", FOOT),
        ("feet", FOOT),
        ("ft", FOOT),
        ("inch", INCH),
        ("inche", INCH),
        ("second", SECOND),
        ("sec", SECOND),
        ("s", SECOND),
        ("minute", MINUTE),
        ("min", MINUTE),
        ("hour", HOUR),
        ("hr", HOUR),
        ("h", HOUR),
        ("day", unit(Time, 86_400.0, 0.0)),
        ("week", unit(Time, 604_800.0, 0.0)),
        ("celsius", CELSIUS),
        ("centigrade", CELSIUS),
        ("c", CELSIUS),
        ("fahrenheit", FAHRENHEIT),
        ("f", FAHRENHEIT),
        ("kelvin", KELVIN),
        ("k", KELVIN),
        ("kilogram", unit(Mass, 1.0, 0.0)),
        ("kg", unit(Mass, 1.0, 0.0)),
        ("gram", unit(Mass, 0.001, 0.0)),
        ("pound", unit(Mass, 0.453_592_37, 0.0)),
        ("lb", unit(Mass, 0.453_592_37, 0.0)),
    ]
};

impl Unit {
    /// The unit of that name, in the singular or the plural.
    pub(crate) fn find(word: &str) -> Option<Self> {
        let find = |word: &str| UNITS.iter().find(|(name, _)| *name == word).map(|(_, unit)| *unit);
        find(word).or_else(|| word.strip_suffix('s').filter(|it| it.len() > 1).and_then(find))
    }

    /// A number of this unit in another one; `None` if they measure something else.
    pub(crate) fn convert(self, to: Self, number: f64) -> Option<f64> {
        (self.quantity == to.quantity).then(|| (number * self.scale + self.zero - to.zero) / to.scale)
    }
}
