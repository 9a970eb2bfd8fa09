use super::*;

const CHATML: &str = "{%- if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif -%}
{# roles #}{% for message in messages %}
{{- '<|im_start|>' + message['role'] + '\\n' + message.content | trim + '<|im_end|>' }}
{%- if message.role == 'system' or message['role'] in ['user', \"assistant\"] %}{% elif message.role != 'tool' %}
{{ raise_exception('Unknown role') }}{% endif %}{% endfor %}[INST]{{ strftime_now(format='%d') }}{{ bos_token }}";

#[test]
fn template_lists_what_it_reads() {
    let found = Template::of(CHATML);
    assert_eq!(found.variables, ["add_generation_prompt", "bos_token", "messages"]);
    assert_eq!(found.functions, ["raise_exception", "strftime_now"]);
    assert_eq!(found.filters, ["trim"]);
    assert_eq!(found.roles, ["assistant", "system", "tool", "user"]);
    assert_eq!(found.markers, ["<|im_end|>", "<|im_start|>", "[INST]"]);
    assert_eq!(found.warnings, []);
}

#[test]
fn template_pieces_join_to_the_text() {
    for text in
        [CHATML, "", "{{", "{% raw %}{{ x }}{% endraw %}y", "{{ 'a", "{# é", "{{ {'a': {}} }}é"]
    {
        let pieces = Template::pieces(text);
        let all: String = pieces.iter().map(|piece| piece.text).collect();
        assert_eq!(all, text);
    }
    let raw = Template::of("{% raw %}{{ x }}{% endraw %}{{ y }}");
    assert_eq!(raw.variables, ["y"]);
}

#[test]
fn template_names_are_read_or_bound() {
    let found = Template::of(
        "{% set messages = messages[1:] %}{% set ns = namespace(first=true, x=tools) %}\
             {% macro f(a, b=c) %}{{ a + b }}{% endmacro %}{{ f(1, b=d) }}\
             {% for k, v in e.items() %}{{ k ~ v }}{{ loop.index }}{% endfor %}\
             {% if ns.first is not defined and g is string %}{% endif %}\
             {% set block %}{{ h }}{% endset %}{{ block }}{% with i = j %}{{ i }}{% endwith %}",
    );
    assert_eq!(found.variables, ["c", "d", "e", "g", "h", "j", "messages", "tools"]);
    assert!(found.functions.is_empty());
}

#[test]
fn template_attack_is_named() {
    for (text, found) in [
        ("{{ ().__class__.__base__ }}", "__class__"),
        ("{{ x['__globals__'] }}", "'__globals__'"),
        ("{{ x|attr('\\x5f\\x5fclass\\x5f\\x5f') }}", "attr"),
        ("{{ x['\\u005f_init__'] }}", "'\\u005f_init__'"),
        ("{{ x['\\137\\137init__'] }}", "'\\137\\137init__'"),
        ("{{ x.mro() }}", "mro"),
        ("{{ '__cla' ~ 'ss__' }}", "'__cla'"),
        ("{% include 'x' %}", "include"),
        ("{#}{% raw %}#}{{ x|attr('a') }}", "attr"),
        ("{% raw %}{% endrawx %}{# {% endraw %}{{ x|attr('a') }} #}", "attr"),
        ("{{ (messages|map('trim'))['gi_frame'] }}", "'gi_frame'"),
        ("{{ ()['_' '_class_' '_'] }}", "'_class_'"),
        ("{{ x['\\N{low line}_init__'] }}", "'\\N{low line}_init__'"),
        ("{{ x['_\\\n_init__'] }}", "'_\\\n_init__'"),
    ] {
        let warnings = Template::of(text).warnings;
        assert_eq!(warnings.first().map(|it| it.text.as_str()), Some(found), "{text}");
    }
    for text in ["{{ 'a__b' }}", "__class__", "{# __class__ #}", "{{ x.y_ }}", "{{ '_' }}"] {
        assert_eq!(Template::of(text).warnings, [], "{text}");
    }
    let line = Template::of("a\n\n{{ x.__y__ }}").warnings.first().map(|it| it.line);
    assert_eq!(line, Some(3));
}

#[test]
fn long_template_is_bounded() {
    let long = "{{ x.__a__ }}<|b|>{% if".repeat(200_000);
    let found = Template::of(&long);
    assert_eq!((found.warnings.len(), found.markers.len()), (MOST, 1));
    for name in ["__a", "_"] {
        let string = alloc::format!("{{{{ '{}!' }}}}", name.repeat(1_000_000));
        assert!(Template::of(&string).warnings.len() <= 1);
    }
    let open = "{{ (".repeat(1_000_000);
    assert_eq!(Template::of(&open).variables.len(), 0);
    let names: String = (0..10_000).map(|i| alloc::format!("{{{{ v{i} }}}}")).collect();
    assert_eq!(Template::of(&names).variables.len(), MOST);
}

/// No sequence of parts loses text or panics.
#[test]
fn any_text_is_split_into_pieces() {
    const PARTS: &[&str] = &[
        "{{",
        "{%",
        "{#",
        "#}",
        "}}",
        "%}",
        "-",
        "'",
        "\"",
        "\\",
        "é",
        "(",
        ")",
        "[",
        "]",
        "=",
        "==",
        ".",
        "|",
        "__a__",
        " raw ",
        "endraw",
        " for x in y ",
        " set ",
        "role",
        "in",
        "is not",
        "<",
        ">",
        "\n",
        "｜",
        "\\x5f",
    ];
    let mut state = 7_u32;
    let mut next = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    for _ in 0..5_000 {
        let len = next(24);
        let text: String = (0..len).map(|_| PARTS[next(PARTS.len())]).collect();
        let all: String = Template::pieces(&text).iter().map(|piece| piece.text).collect();
        assert_eq!(all, text);
        let found = Template::of(&text);
        assert!(found.warnings.iter().all(|it| (it.offset as usize) < text.len()), "{text}");
    }
}
