//! Slides (`.pptx`).

use std::fmt::Write as _;

use zip::result::ZipError;

use super::package::{OFFICE, Part, XML, escaped, package, relations_part};

const DRAWING: &str = "http://schemas.openxmlformats.org/drawingml/2006/main";
const SHOW: &str = "http://schemas.openxmlformats.org/presentationml/2006/main";

/// Width and height of a slide, in EMU (914,400 to the inch): 16 to 9.
const SIZE: (u32, u32) = (12_192_000, 6_858_000);
/// Left edge, top edge, width and height of a title, and of the points below it.
const TITLE_BOX: [u32; 4] = [838_200, 365_125, 10_515_600, 1_325_563];
const POINTS_BOX: [u32; 4] = [838_200, 1_825_625, 10_515_600, 4_351_338];

/// The smallest number that the format takes for a slide, and for a master; those of layouts follow the master's.
const SLIDE_ID: u64 = 256;
const MASTER_ID: u64 = 2_147_483_648;

/// The colours that a theme must name.
const COLOURS: [(&str, &str); 12] = [
    ("dk1", "000000"),
    ("lt1", "FFFFFF"),
    ("dk2", "44546A"),
    ("lt2", "E7E6E6"),
    ("accent1", "2E75B6"),
    ("accent2", "C55A11"),
    ("accent3", "7F7F7F"),
    ("accent4", "BF9000"),
    ("accent5", "5B9BD5"),
    ("accent6", "538135"),
    ("hlink", "0563C1"),
    ("folHlink", "954F72"),
];

/// A first slide with the title, and one for each of the others: its title and its points.
pub(super) fn slides(title: &str, slides: &[(&str, &[String])]) -> Result<Vec<u8>, ZipError> {
    let none: &[String] = &[];
    let all: Vec<(&str, &[String])> = [(title, none)].into_iter().chain(slides.iter().copied()).collect();
    let mut ids = String::new();
    let mut targets = vec![("slideMaster", "slideMasters/slideMaster1.xml".to_owned())];
    let mut parts = fixed_parts();
    for (place, (title, points)) in all.iter().enumerate() {
        let number = place + 1;
        // Relations are numbered in the order of `targets`. The first is the master, so slide 1 has the second number.
        let _ = write!(ids, "<p:sldId id=\"{}\" r:id=\"rId{}\"/>", SLIDE_ID + place as u64, number + 1);
        targets.push(("slide", format!("slides/slide{number}.xml")));
        parts.push(Part {
            name: format!("ppt/slides/slide{number}.xml"),
            content_type: "application/vnd.openxmlformats-officedocument.presentationml.slide+xml",
            text: slide(title, points),
        });
        parts.push(relations_part(
            format!("ppt/slides/_rels/slide{number}.xml.rels"),
            &[("slideLayout", "../slideLayouts/slideLayout1.xml".to_owned())],
        ));
    }
    targets.push(("theme", "theme/theme1.xml".to_owned()));
    let (width, height) = SIZE;
    parts.push(Part {
        name: "ppt/presentation.xml".to_owned(),
        content_type: "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
        text: root(
            "presentation",
            &format!(
                "<p:sldMasterIdLst><p:sldMasterId id=\"{MASTER_ID}\" r:id=\"rId1\"/></p:sldMasterIdLst><p:sldIdLst>\
                 {ids}</p:sldIdLst><p:sldSz cx=\"{width}\" cy=\"{height}\"/><p:notesSz cx=\"{height}\" \
                 cy=\"{width}\"/>"
            ),
        ),
    });
    parts.push(relations_part("ppt/_rels/presentation.xml.rels", &targets));
    package("ppt/presentation.xml", &parts)
}

fn root(name: &str, inner: &str) -> String {
    format!("{XML}<p:{name} xmlns:a=\"{DRAWING}\" xmlns:r=\"{OFFICE}\" xmlns:p=\"{SHOW}\">{inner}</p:{name}>")
}

/// The shapes of a slide, of its layout or of the master.
fn shapes(inner: &str) -> String {
    format!(
        "<p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id=\"1\" name=\"\"/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr>\
         <p:grpSpPr/>{inner}</p:spTree></p:cSld>"
    )
}

/// A place for text: `title`, or `body` for points.
fn shape(id: u32, kind: &str, place: Option<[u32; 4]>, paragraphs: &str) -> String {
    // A slide finds the place of its points in the layout by this index, and that of its title by the type.
    let index = if kind == "body" { " idx=\"1\"" } else { "" };
    let place = place.map_or(String::new(), |[left, top, width, height]| {
        format!(
            "<a:xfrm><a:off x=\"{left}\" y=\"{top}\"/><a:ext cx=\"{width}\" cy=\"{height}\"/></a:xfrm><a:prstGeom \
             prst=\"rect\"><a:avLst/></a:prstGeom>"
        )
    });
    format!(
        "<p:sp><p:nvSpPr><p:cNvPr id=\"{id}\" name=\"{kind} {id}\"/><p:cNvSpPr><a:spLocks noGrp=\"1\"/></p:cNvSpPr>\
         <p:nvPr><p:ph type=\"{kind}\"{index}/></p:nvPr></p:nvSpPr><p:spPr>{place}</p:spPr><p:txBody><a:bodyPr/>\
         <a:lstStyle/>{paragraphs}</p:txBody></p:sp>"
    )
}

fn paragraph(text: &str) -> String {
    format!("<a:p><a:r><a:rPr lang=\"en-GB\"/><a:t>{}</a:t></a:r></a:p>", escaped(text))
}

fn slide(title: &str, points: &[String]) -> String {
    // The layout defines the places, so a slide has none.
    let mut inner = shape(2, "title", None, &paragraph(title));
    if !points.is_empty() {
        let points: String = points.iter().map(|point| paragraph(point)).collect();
        inner.push_str(&shape(3, "body", None, &points));
    }
    root("sld", &format!("{}<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr>", shapes(&inner)))
}

/// The parts that every file has: one master, one layout, one theme.
fn fixed_parts() -> Vec<Part> {
    let empty = "<a:p><a:endParaRPr lang=\"en-GB\"/></a:p>";
    let places = [("title", TITLE_BOX), ("body", POINTS_BOX)];
    // The group around all shapes has the number 1.
    let places: String =
        (2..).zip(places).map(|(id, (kind, place))| shape(id, kind, Some(place), empty)).collect();
    let level = |size: u32, bullet: &str| {
        format!(
            "<a:lvl1pPr marL=\"0\" indent=\"0\" algn=\"l\">{bullet}<a:defRPr sz=\"{size}\"><a:solidFill><a:schemeClr \
             val=\"tx1\"/></a:solidFill><a:latin typeface=\"+mn-lt\"/></a:defRPr></a:lvl1pPr>"
        )
    };
    let styles = format!(
        "<p:txStyles><p:titleStyle>{}</p:titleStyle><p:bodyStyle>{}</p:bodyStyle><p:otherStyle/></p:txStyles>",
        level(4400, ""),
        level(2800, "<a:buChar char=\"&#8226;\"/>")
    );
    // Masters and layouts are numbered in one series, in which no number occurs twice.
    let layout_id = MASTER_ID + 1;
    let master = format!(
        "{}<p:clrMap bg1=\"lt1\" tx1=\"dk1\" bg2=\"lt2\" tx2=\"dk2\" accent1=\"accent1\" accent2=\"accent2\" \
         accent3=\"accent3\" accent4=\"accent4\" accent5=\"accent5\" accent6=\"accent6\" hlink=\"hlink\" \
         folHlink=\"folHlink\"/><p:sldLayoutIdLst><p:sldLayoutId id=\"{layout_id}\" \
         r:id=\"rId1\"/></p:sldLayoutIdLst>{styles}",
        shapes(&places)
    );
    let layout = format!("{}<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr>", shapes(&places));
    vec![
        Part {
            name: "ppt/slideMasters/slideMaster1.xml".to_owned(),
            content_type: "application/vnd.openxmlformats-officedocument.presentationml.slideMaster+xml",
            text: root("sldMaster", &master),
        },
        relations_part(
            "ppt/slideMasters/_rels/slideMaster1.xml.rels",
            &[
                ("slideLayout", "../slideLayouts/slideLayout1.xml".to_owned()),
                ("theme", "../theme/theme1.xml".to_owned()),
            ],
        ),
        Part {
            name: "ppt/slideLayouts/slideLayout1.xml".to_owned(),
            content_type: "application/vnd.openxmlformats-officedocument.presentationml.slideLayout+xml",
            text: root("sldLayout", &layout),
        },
        relations_part(
            "ppt/slideLayouts/_rels/slideLayout1.xml.rels",
            &[("slideMaster", "../slideMasters/slideMaster1.xml".to_owned())],
        ),
        Part {
            name: "ppt/theme/theme1.xml".to_owned(),
            content_type: "application/vnd.openxmlformats-officedocument.theme+xml",
            text: theme(),
        },
    ]
}

fn theme() -> String {
    let colours: String = COLOURS
        .iter()
        .map(|(name, value)| format!("<a:{name}><a:srgbClr val=\"{value}\"/></a:{name}>"))
        .collect();
    let font = "<a:latin typeface=\"Calibri\"/><a:ea typeface=\"\"/><a:cs typeface=\"\"/>";
    // A theme has to have three of each, for subtle, moderate and intense effects.
    let fill = "<a:solidFill><a:schemeClr val=\"phClr\"/></a:solidFill>".repeat(3);
    let line = "<a:ln w=\"6350\"><a:solidFill><a:schemeClr val=\"phClr\"/></a:solidFill></a:ln>".repeat(3);
    let effect = "<a:effectStyle><a:effectLst/></a:effectStyle>".repeat(3);
    format!(
        "{XML}<a:theme xmlns:a=\"{DRAWING}\" name=\"Plain\"><a:themeElements><a:clrScheme name=\"Plain\">{colours}\
         </a:clrScheme><a:fontScheme name=\"Plain\"><a:majorFont>{font}</a:majorFont><a:minorFont>{font}</a:minorFont>\
         </a:fontScheme><a:fmtScheme name=\"Plain\"><a:fillStyleLst>{fill}</a:fillStyleLst><a:lnStyleLst>{line}\
         </a:lnStyleLst><a:effectStyleLst>{effect}</a:effectStyleLst><a:bgFillStyleLst>{fill}</a:bgFillStyleLst>\
         </a:fmtScheme></a:themeElements></a:theme>"
    )
}
