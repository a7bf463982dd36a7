//! Endpoints of a kind of configuration object: list, create, get, replace, remove.

/// View of a kind of configuration object, with its handlers: those named, in this order. `noun` is for
/// texts, its article for summaries; `conflict` describes refusals by 409.
///
/// ```ignore
/// object_endpoints! {
///     /// Zone, with its revision.
///     ZoneView { zone_id "zone_id": "Zone id", zone: Zone = "Zone" }
///     at "/v1/firewall/zones", "/v1/firewall/zones/{zone_id}", tag "firewall",
///     noun "a firewall zone", plural "firewall zones", missing "No such zone", result "The zone, staged",
///     conflict "Name exists, or interface or network of another zone",
///     list zones, create zone_create, fetch zone_fetch, replace zone_replace, remove zone_remove
/// }
/// ```
macro_rules! object_endpoints {
    (
        $(#[$doc:meta])*
        $View:ident { $id:ident $id_name:literal: $id_text:literal, $field:ident: $Object:ty = $field_text:literal }
        at $all:literal, $one:literal, tag $tag:literal,
        noun $noun:literal, plural $plural:literal, missing $missing:literal, result $result:literal,
        conflict $conflict:literal,
        list $list:ident, create $create:ident, $(fetch $fetch:ident,)? replace $replace:ident,
        remove $remove:ident
    ) => {
        $(#[$doc])*
        #[derive(Debug, serde::Serialize, schemars::JsonSchema)]
        pub struct $View {
            #[doc = concat!($id_text, ".")]
            pub $id: uuid::Uuid,
            #[doc = concat!($field_text, ".")]
            #[serde(flatten)]
            pub $field: $Object,
            /// Revision.
            #[serde(flatten)]
            pub revision: $crate::services::config_objects::Revision,
        }

        impl $crate::services::config_objects::Shown for $View {
            type Object = $Object;

            fn of($id: uuid::Uuid, versioned:  &groundwave_gateway::config::Versioned<$Object>) -> Self {
                let revision = $crate::services::config_objects::Revision::of(versioned);
                Self { $id, $field: versioned.object.clone(), revision }
            }
        }

        #[utoipa::path(get, path = $all, tag = $tag, summary = concat!("List ", $plural),
            params(groundwave_http::page::Paging),
            responses((status = 200, description = "Oldest first")))]
        pub async fn $list(
            _: $crate::access::Viewer,
            axum::extract::State(world): axum::extract::State<$crate::services::world::World>,
            groundwave_http::Query(paging): groundwave_http::Query<groundwave_http::page::Paging>,
        ) -> Result<
            groundwave_http::Json<groundwave_http::page::Page<$View>>,
            groundwave_http::Problem,
        > {
            $crate::services::config_objects::list(&world, &paging, |_| true)
        }

        #[utoipa::path(post, path = $all, tag = $tag, summary = concat!("Create ", $noun),
            responses((status = 201, description = $result,
                    headers(("etag" = String, description = "Revision"))),
                (status = 409, description = $conflict)))]
        pub async fn $create(
            _: $crate::access::Admin,
            axum::extract::State(world): axum::extract::State<$crate::services::world::World>,
            groundwave_http::json_body::StrictJson(object):
                groundwave_http::json_body::StrictJson<$Object>,
        ) -> Result<
            (axum::http::StatusCode, groundwave_http::tag::Tag, groundwave_http::Json<$View>),
            groundwave_http::Problem,
        > {
            $crate::services::config_objects::create(&world, object).await
        }

        $(
            #[utoipa::path(get, path = $one, tag = $tag, summary = concat!("Get ", $noun),
                params(($id_name = uuid::Uuid, Path, description = $id_text)),
                responses((status = 200, description = $result,
                        headers(("etag" = String, description = "Revision"))),
                    (status = 404, description = $missing)))]
            pub async fn $fetch(
                _: $crate::access::Viewer,
                axum::extract::State(world): axum::extract::State<$crate::services::world::World>,
                groundwave_http::Path(id): groundwave_http::Path<uuid::Uuid>,
            ) -> Result<
                (groundwave_http::tag::Tag, groundwave_http::Json<$View>),
                groundwave_http::Problem,
            > {
                $crate::services::config_objects::fetch(&world, id)
            }
        )?

        #[utoipa::path(put, path = $one, tag = $tag, summary = concat!("Replace ", $noun),
            params(($id_name = uuid::Uuid, Path, description = $id_text),
                ("if-match" = Option<String>, Header,
                    description = "Revision that the change applies to")),
            responses((status = 200, description = $result,
                    headers(("etag" = String, description = "New revision"))),
                (status = 404, description = $missing),
                (status = 409, description = $conflict),
                (status = 412, description = "Changed since that revision")))]
        pub async fn $replace(
            _: $crate::access::Admin,
            axum::extract::State(world): axum::extract::State<$crate::services::world::World>,
            groundwave_http::Path(id): groundwave_http::Path<uuid::Uuid>,
            headers: axum::http::HeaderMap,
            groundwave_http::json_body::StrictJson(object):
                groundwave_http::json_body::StrictJson<$Object>,
        ) -> Result<
            (groundwave_http::tag::Tag, groundwave_http::Json<$View>),
            groundwave_http::Problem,
        > {
            $crate::services::config_objects::replace(&world, id, &headers, object).await
        }

        #[utoipa::path(delete, path = $one, tag = $tag, summary = concat!("Remove ", $noun),
            params(($id_name = uuid::Uuid, Path, description = $id_text),
                ("if-match" = Option<String>, Header, description = "Revision to remove")),
            responses((status = 204, description = "Removed"),
                (status = 404, description = $missing),
                (status = 409, description = "In use"),
                (status = 412, description = "Changed since that revision")))]
        pub async fn $remove(
            _: $crate::access::Admin,
            axum::extract::State(world): axum::extract::State<$crate::services::world::World>,
            groundwave_http::Path(id): groundwave_http::Path<uuid::Uuid>,
            headers: axum::http::HeaderMap,
        ) -> Result<axum::http::StatusCode, groundwave_http::Problem> {
            $crate::services::config_objects::remove::<$Object>(&world, id, &headers).await
        }
    };
}
pub(crate) use object_endpoints;
