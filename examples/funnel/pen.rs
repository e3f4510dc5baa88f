//! Boxes and text in a few colours, on top of `plotters`.

use crate::line::line;
use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea as _};
use plotters::element::{Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, FontStyle, IntoFont as _, RGBColor, WHITE};

pub(crate) const INK: RGBColor = RGBColor(31, 41, 55);
pub(crate) const SOFT: RGBColor = RGBColor(107, 114, 128);
pub(crate) const RULE: RGBColor = RGBColor(229, 231, 235);
pub(crate) const BAND: RGBColor = RGBColor(248, 250, 252);
pub(crate) const OPEN: RGBColor = RGBColor(37, 99, 175);
pub(crate) const BETWEEN: RGBColor = RGBColor(214, 228, 245);
pub(crate) const ENTERED: RGBColor = RGBColor(22, 128, 118);
pub(crate) const LEFT: RGBColor = RGBColor(217, 119, 40);
pub(crate) const WON: RGBColor = RGBColor(34, 139, 84);
pub(crate) const DEFERRED: RGBColor = RGBColor(202, 158, 41);
pub(crate) const CLOSED: RGBColor = RGBColor(148, 163, 184);
pub(crate) const PAPER: RGBColor = WHITE;

/// A point, in pixels from the upper left.
pub(crate) type Point = (i32, i32);

type Drawn = Result<(), Failure>;
pub(crate) type Failure = DrawingAreaErrorKind<std::io::Error>;

/// How a text stands at its point.
#[derive(Clone, Copy)]
pub(crate) struct Type {
    pub(crate) size: i32,
    pub(crate) style: FontStyle,
    pub(crate) color: RGBColor,
    pub(crate) side: HPos,
}

impl Type {
    /// Text that begins at its point.
    pub(crate) const fn of(size: i32, color: RGBColor) -> Self {
        Self {
            size,
            style: FontStyle::Normal,
            color,
            side: HPos::Left,
        }
    }

    pub(crate) const fn bold(self) -> Self {
        let style = FontStyle::Bold;
        Self { style, ..self }
    }

    /// Text that ends at its point.
    pub(crate) const fn ending(self) -> Self {
        let side = HPos::Right;
        Self { side, ..self }
    }

    /// Text with its middle at its point.
    pub(crate) const fn centred(self) -> Self {
        let side = HPos::Center;
        Self { side, ..self }
    }
}

/// What draws.
pub(crate) struct Pen<'a>(DrawingArea<SVGBackend<'a>, Shift>);

impl<'a> Pen<'a> {
    /// A sheet of paper whose picture goes into `svg`.
    pub(crate) fn new(svg: &'a mut String, size: (u32, u32)) -> Result<Self, Failure> {
        let area = SVGBackend::with_string(svg, size).into_drawing_area();
        area.fill(&PAPER)?;
        Ok(Self(area))
    }

    pub(crate) fn text(&self, text: &str, at: Point, kind: Type) -> Drawn {
        let font = ("Helvetica, Arial, sans-serif", kind.size, kind.style)
            .into_font()
            .color(&kind.color)
            .pos(Pos::new(kind.side, VPos::Center));
        // XML has no place for control characters.
        self.0.draw(&Text::new(line(text), at, font))
    }

    pub(crate) fn rectangle(&self, from: Point, to: Point, color: RGBColor) -> Drawn {
        self.0.draw(&Rectangle::new([from, to], color.filled()))
    }

    pub(crate) fn polygon(&self, points: Vec<Point>, color: RGBColor) -> Drawn {
        self.0.draw(&Polygon::new(points, color.filled()))
    }

    /// Ends the picture.
    pub(crate) fn done(self) -> Drawn {
        self.0.present()
    }
}
